[...document.querySelectorAll('.winners')[0].querySelectorAll('tbody tr')].filter(row => {
  while (row && !row.querySelector('th[scope=rowgroup]')) row = row.previousElementSibling;
  return row && row.textContent.includes('BERT-Base');
}).find(row => row.querySelector('th[scope=row]').innerText === 'AMP · bsz 64').querySelectorAll('td')[4]

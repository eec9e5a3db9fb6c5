
document.querySelectorAll('tbody').forEach(body => {
  const kinds = {};
  const about = e => `${e.tagName} ${e.className} ${e.getAttributeNames()}`;
  const kind = row => [row, ...row.querySelectorAll('*')].map(about);
  [...body.rows].forEach(row => { if ((kinds[kind(row)] = (kinds[kind(row)] || 0) + 1) > 3) row.remove(); });
});

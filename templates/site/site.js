(function(){"use strict";
var root=document.documentElement,title=document.querySelector("title");
function keep(k,v){try{localStorage.setItem("evalsuite."+k,v)}catch(e){}}
function named(){title.textContent=title.getAttribute("data-"+root.dataset.lang)}
document.addEventListener("change",function(e){var i=e.target;
if(i.name==="lang"){root.dataset.lang=i.value;root.lang=i.value==="zh"?"zh-CN":"en";keep("lang",i.value);named()}
if(i.name==="theme"){if(i.value==="auto")delete root.dataset.theme;else root.dataset.theme=i.value;keep("theme",i.value)}});
named();
})();

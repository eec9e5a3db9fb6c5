(function(){"use strict";
var root=document.documentElement,langs=root.dataset.languages.split(" "),hash={};
location.hash.slice(1).split("&").forEach(function(p){var i=p.indexOf("=");if(i>0)hash[p.slice(0,i)]=decodeURIComponent(p.slice(i+1))});
function stored(k){try{return localStorage.getItem("evalsuite."+k)}catch(e){return null}}
function pick(k,allowed,other){var found=[hash[k],stored(k),other];for(var i=0;i<3;i++)if(allowed.indexOf(found[i])>=0)return found[i];return allowed[0]}
var browser=(navigator.language||"").toLowerCase().indexOf("zh")===0?"zh":"en";
var lang=pick("lang",langs,browser),theme=pick("theme",["auto","light","dark"],"auto");
root.classList.add("scripted");
root.dataset.lang=lang;root.lang=lang==="zh"?"zh-CN":"en";
if(theme!=="auto")root.dataset.theme=theme;
var l=document.getElementById("lang-"+lang);if(l)l.checked=true;
document.getElementById("theme-"+theme).checked=true;
})();

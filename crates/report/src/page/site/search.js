"use strict";
const all = JSON.parse(document.getElementById("entries").textContent);
const list = document.getElementById("found");
const input = document.getElementById("words");
input.addEventListener("input", () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ([kind, name]) => words.every((word) => (kind + " " + name).toLowerCase().includes(word));
  const found = words.length ? all.filter(fits) : [];
  list.replaceChildren(...found.slice(0, 100).map(([kind, name, page]) => {
    const item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
    link.textContent = name;
    link.href = page;
    small.textContent = " " + kind;
    item.append(link, small);
    return item;
  }));
  if (words.length && !found.length) list.textContent = "Nothing is called so.";
  if (found.length > 100) list.append("and " + (found.length - 100) + " more");
});

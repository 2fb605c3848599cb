"use strict";
const body = document.querySelector("tbody");
const rows = [...body.rows];
const shown = document.querySelector("nav output");
const find = document.querySelector("nav input");
const kinds = [...document.querySelectorAll("nav button.k")];

function filter() {
  const wanted = new Set(kinds.filter(b => b.getAttribute("aria-pressed") === "true").map(b => b.value));
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const row of rows) {
    const names = row.dataset.names.toLowerCase();
    row.hidden = !wanted.has(row.dataset.kind) || !words.every(word => names.includes(word));
    count += row.hidden ? 0 : 1;
  }
  shown.value = `${count} of ${rows.length} shown`;
}

for (const button of kinds) {
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    filter();
  });
}
find.addEventListener("input", filter);

const heads = [...document.querySelectorAll("th[data-sort]")];
for (const head of heads) {
  head.addEventListener("click", () => {
    const rises = head.getAttribute("aria-sort") === "none" ? head.dataset.sort === "text"
      : head.getAttribute("aria-sort") === "descending";
    heads.forEach(other => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", rises ? "ascending" : "descending");
    const column = head.cellIndex;
    const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const number = text => text === "" ? -Infinity : Number(text);
    const order = head.dataset.sort === "text" ? (a, b) => key(a).localeCompare(key(b), undefined, { numeric: true })
      : (a, b) => number(key(a)) - number(key(b));
    rows.sort((a, b) => rises ? order(a, b) : order(b, a));
    body.append(...rows);
  });
}

const large = document.querySelector("dialog");
body.addEventListener("click", event => {
  if (event.target.tagName !== "IMG") return;
  large.querySelector("img").src = event.target.src;
  large.querySelector("p").textContent = event.target.alt;
  large.showModal();
});
large.addEventListener("click", () => large.close());
filter();

// Keys, and what is selected. Everything works without this file.
"use strict";
(() => {
  const one = (wanted, from = document) => from.querySelector(wanted);
  const all = (wanted, from = document) => [...from.querySelectorAll(wanted)];
  const typing = (at) => at.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
  let leading = false;

  // -- the list that j and k walk through
  const items = () => all("[data-item]");
  const step = (by) => {
    const list = items();
    if (!list.length) return;
    const at = list.indexOf(document.activeElement.closest("[data-item]"));
    const next = list[Math.min(list.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };
  const press = (name) => {
    const item = document.activeElement.closest("[data-item]");
    const button = item && one(`[data-key="${name}"]`, item);
    if (button) button.click();
    return Boolean(button);
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      all("details.switch[open]").forEach((each) => { each.open = false; one("summary", each).focus(); });
      if (typing(event.target)) event.target.blur();
      return;
    }
    if (typing(event.target) || one("dialog[open]")) return;
    if (leading) {
      leading = false;
      const link = one(`nav a[data-go="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    let done = true;
    switch (event.key) {
      case "g": leading = true; break;
      case "/": (one("#q") || one("#search")).focus(); break;
      case "j": step(1); break;
      case "k": step(-1); break;
      case "e": {
        const edit = one("#edit");
        if (edit) { edit.open = true; one("textarea", edit).focus(); } else done = press("e");
        break;
      }
      case "Enter": {
        const link = event.target.matches("[data-item]") && one("a", event.target);
        if (link) link.click(); else done = false;
        break;
      }
      case "u": { const undo = one("#undo"); if (undo) undo.click(); else done = false; break; }
      case "?": { const help = one("#keys"); if (help) help.showModal(); break; }
      default: done = /^[a-z]$/.test(event.key) && press(event.key);
    }
    if (done) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    all("details.switch[open]").forEach((each) => { if (!each.contains(event.target)) each.open = false; });
  });

  // -- what is selected
  const count = () => {
    const place = one("#selected");
    if (!place) return;
    const chosen = all("input[name=id]:checked").length;
    place.textContent = `${chosen} selected`;
  };
  document.addEventListener("change", (event) => {
    if (event.target.matches("#every")) {
      all("input[name=id]").forEach((each) => { each.checked = event.target.checked; });
    }
    if (event.target.matches("input[type=checkbox]")) count();
    // Filters and switches take hold at once; without scripts there is a button.
    if (event.target.matches("[data-now]")) event.target.form.requestSubmit();
  });

  // -- an answer that is not the one that was asked for
  document.addEventListener("htmx:before:response", (event) => {
    const answer = event.detail.ctx.response;
    if (answer.status < 400) return;
    event.preventDefault();
    location.assign(answer.raw.url); // as a whole page it says what is wrong
  });
  document.addEventListener("htmx:error", (event) => {
    const place = one("#count, #work [role=status]");
    if (!place || event.detail.error.name === "AbortError") return; // more was typed meanwhile
    place.textContent = "No answer: the server of this page has ended. Type ltm ui to start it again.";
  });

  // -- what was typed and not saved
  let changed = false;
  document.addEventListener("input", (event) => { if (event.target.closest("[data-keep]")) changed = true; });
  document.addEventListener("submit", () => { changed = false; });
  window.addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });

  // -- once the page is there
  const text = /^#\w+-text$/.test(location.hash) && one(location.hash);
  if (text) text.focus();
  const here = one("[data-here]");
  if (here) here.focus();
  const help = one("#help");
  if (help) help.addEventListener("click", () => one("#keys").showModal());
})();

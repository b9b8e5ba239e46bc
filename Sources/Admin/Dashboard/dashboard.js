// SPDX-License-Identifier: Apache-2.0
// It does three things. Pages are complete without it.
// - It replaces the main element of a live page by a fresh one every five seconds. It skips a turn while the page is
//   hidden, text is selected, a box is ticked, or a field has the focus. The server marks live pages with data-live: all pages except
//   those of ended or missing jobs and of unknown paths.
// - It copies texts: a button with data-copy copies the pre of its figure. The style sheet shows such buttons only if
//   the root element has data-script.
// - It keeps the box for all jobs of a list and the boxes of the rows in step, and counts the ticked jobs.
"use strict";

let isLoading = false;

function isInUse(main) {
  return !getSelection().isCollapsed || main.querySelector(".ticks :checked") !== null
    || (main.contains(document.activeElement) && document.activeElement.matches("input, select, textarea"));
}

// The elements that a reader opens or reaches by keyboard. An element of the fresh page is the same one if it has the
// same place and the same text.
const KEPT = "a[href], button, summary, [tabindex]";

function sameElement(old, fresh, oldMain) {
  const place = Array.from(oldMain.querySelectorAll(KEPT)).indexOf(old);
  const found = fresh.querySelectorAll(KEPT)[place];
  return found && found.tagName === old.tagName && found.textContent === old.textContent ? found : null;
}

// Wide tables keep their scroll position, details stay open or closed, and the focus stays.
function keepState(main, fresh) {
  const places = Array.from(main.querySelectorAll(".scroll, pre"), (frame) => [frame.scrollLeft, frame.scrollTop]);
  const frames = main.querySelectorAll("details");
  fresh.querySelectorAll("details").forEach((frame, index) => {
    const old = frames[index];
    if (old && old.firstElementChild.textContent === frame.firstElementChild.textContent) frame.open = old.open;
  });
  const focused = main.contains(document.activeElement) ? sameElement(document.activeElement, fresh, main) : null;
  main.replaceWith(fresh);
  fresh.querySelectorAll(".scroll, pre").forEach((frame, index) => {
    [frame.scrollLeft, frame.scrollTop] = places[index] ?? [0, 0];
  });
  focused?.focus({ preventScroll: true });
}

async function renew() {
  const main = document.querySelector("main");
  if (isLoading || !("live" in main.dataset) || document.hidden || isInUse(main)) return;
  isLoading = true;
  let fresh = null;
  try {
    const answer = await fetch(location.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    fresh = page.querySelector("main");
  } catch {
    // The worker may be restarting. The next turn tries again.
  }
  isLoading = false;
  // The style sheet then marks the page as out of date.
  document.documentElement.toggleAttribute("data-lost", fresh === null);
  // The user may have begun to select or type during the fetch.
  if (fresh === null || isInUse(main)) return;
  keepState(main, fresh);
}

// Screen readers read each text that appears in this element.
const announcer = document.createElement("p");
announcer.className = "announcer";
announcer.setAttribute("role", "status");
announcer.setAttribute("aria-live", "polite");

// Browsers offer the clipboard only on HTTPS and on this machine. Elsewhere the old command copies a selection.
async function copyText(text) {
  if (navigator.clipboard && isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // The reader has refused access to the clipboard.
    }
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "announcer";
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  return isCopied;
}

async function copy(button) {
  const source = button.closest("figure").querySelector("pre");
  const isCopied = await copyText(source.textContent);
  button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
  if (!isCopied) getSelection().selectAllChildren(source);
  announcer.textContent = isCopied
    ? button.getAttribute("aria-label").replace(/^Copy/, "Copied")
    : "Copying is not allowed here. The text is selected: press Ctrl+C.";
  setTimeout(() => { button.textContent = "Copy"; announcer.textContent = ""; }, 4000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button);
});

function showTicks(form, changed) {
  const all = form.querySelector("[data-all]");
  const rows = form.querySelectorAll(".tick input");
  if (changed === all) rows.forEach((box) => { box.checked = all.checked; });
  const count = form.querySelectorAll(".tick :checked").length;
  if (all) {
    all.checked = count === rows.length;
    all.indeterminate = count > 0 && count < rows.length;
  }
  form.querySelector("output").textContent = count > 0 ? `${count} ticked. The list stands still.` : "";
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("form.ticks");
  if (form) showTicks(form, event.target);
});

// Each value is sent once, and all in one argument: a request line has a bounded length.
document.addEventListener("formdata", (event) => {
  for (const name of ["ids", "causes"]) {
    const values = event.formData.getAll(name).flatMap((text) => text.split(","));
    if (values.length > 1) event.formData.set(name, [...new Set(values)].join(","));
  }
});

// A browser may show a list again with the boxes that were ticked.
document.querySelectorAll("form.ticks").forEach((form) => showTicks(form, null));

document.body.append(announcer);
document.documentElement.toggleAttribute("data-script", true);
setInterval(renew, 5000);

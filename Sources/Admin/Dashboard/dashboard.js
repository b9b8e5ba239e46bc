// SPDX-License-Identifier: Apache-2.0
// Replaces the main element of a live page by a fresh one every five seconds. It skips a turn while the page is hidden,
// text is selected, or a filter has the focus. The server marks live pages with data-live: all pages except those of
// ended or missing jobs and of unknown paths.
"use strict";

let isLoading = false;

function isInUse(main) {
  return !getSelection().isCollapsed || (main.contains(document.activeElement) && document.activeElement.matches("input, select"));
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
  // Wide tables keep their horizontal scroll position.
  const places = Array.from(main.querySelectorAll(".scroll"), (frame) => frame.scrollLeft);
  main.replaceWith(fresh);
  fresh.querySelectorAll(".scroll").forEach((frame, index) => { frame.scrollLeft = places[index] ?? 0; });
}

setInterval(renew, 5000);

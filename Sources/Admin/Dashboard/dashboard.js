// SPDX-License-Identifier: Apache-2.0
// Reads the page anew every five seconds while somebody looks at it, has nothing selected and fills in nothing.
"use strict";

let isUnderWay = false;

function isInUse(main) {
  return !getSelection().isCollapsed || (main.contains(document.activeElement) && document.activeElement.matches("input, select"));
}

async function renew() {
  const main = document.querySelector("main");
  if (isUnderWay || !("live" in main.dataset) || document.hidden || isInUse(main)) return;
  isUnderWay = true;
  let fresh = null;
  try {
    const answer = await fetch(location.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    fresh = page.querySelector("main");
  } catch {
    // The worker may be starting anew.
  }
  isUnderWay = false;
  document.documentElement.toggleAttribute("data-lost", fresh === null);
  if (fresh === null || isInUse(main)) return;
  // Wide tables stay where they were moved to.
  const places = Array.from(main.querySelectorAll(".scroll"), (frame) => frame.scrollLeft);
  main.replaceWith(fresh);
  fresh.querySelectorAll(".scroll").forEach((frame, index) => { frame.scrollLeft = places[index] ?? 0; });
}

setInterval(renew, 5000);

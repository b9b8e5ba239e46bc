// SPDX-License-Identifier: Apache-2.0
// Reads the page anew every five seconds while somebody looks at it and has nothing selected.
"use strict";

async function renew() {
  const main = document.querySelector("main");
  if (!("live" in main.dataset) || document.hidden || !getSelection().isCollapsed) return;
  let fresh = null;
  try {
    const answer = await fetch(location.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    fresh = page.querySelector("main");
  } catch {
    // The worker may be starting anew.
  }
  document.documentElement.toggleAttribute("data-lost", fresh === null);
  if (fresh !== null) main.replaceWith(fresh);
}

setInterval(renew, 5000);

/** Whether a place of a script is reached as the page loads, and not when a visitor does something: judged by the functions around it. */

const headMax = 160;
const named = /function\s*\*?\s*([A-Za-z_$][\w$]{0,40})\s*\([^()]{0,200}\)\s*$/;
const nameless = /(?:\bfunction\s*\([^()]{0,200}\)|\([^()]{0,200}\)\s*=>|[A-Za-z_$][\w$]{0,40}\s*=>)\s*$/;
/** What stands before a function that runs by itself: brackets of its own, a timer, an event of loading. */
const selfRunning =
  /(?:(?:^|[^\w$)\]\s])\s*\(|[!+~]|\b(?:setTimeout|requestAnimationFrame|queueMicrotask)\s*\(|\bonload\s*=|["'`](?:load|DOMContentLoaded|pageshow)["'`]\s*,|\.then\s*\()\s*(?:async\s*)?$/;
const depthMax = 12;
const backMax = 64 * 1024;

export function runsAtLoad(text: string, at: number): boolean {
  let closed = 0;
  let looked = 0;
  for (let i = at - 1; i >= Math.max(0, at - backMax) && looked < depthMax; i--) {
    const char = text[i];
    if (char === '}') closed += 1;
    else if (char === '{' && closed > 0) closed -= 1;
    else if (char === '{') {
      looked += 1;
      if (isDeferred(text.slice(Math.max(0, i - headMax), i), text)) return false;
    }
  }
  return true;
}

/** `head`: the text before a block. One that is no function's is gone through on the way. */
function isDeferred(head: string, text: string): boolean {
  const name = named.exec(head)?.[1];
  if (name !== undefined) {
    if (selfRunning.test(head.replace(named, ''))) return false;
    // Its own head is one of them.
    return text.indexOf(`${name}(`, text.indexOf(`${name}(`) + 1) < 0;
  }
  const own = nameless.exec(head);
  return own !== null && !selfRunning.test(head.slice(0, own.index));
}

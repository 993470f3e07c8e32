/** Whether a position in a script runs at page load, not after a visitor acts; decided by the functions around it. */

const headMax = 160;
const named = /function\s*\*?\s*([A-Za-z_$][\w$]{0,40})\s*\([^()]{0,200}\)\s*$/;
const nameless = /(?:\bfunction\s*\([^()]{0,200}\)|\([^()]{0,200}\)\s*=>|[A-Za-z_$][\w$]{0,40}\s*=>)\s*$/;
/** Text before a function that runs without a visitor: immediate invocation, a timer, a load event. */
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

/** `head`: the text before a block. Blocks of control flow are not deferred. */
function isDeferred(head: string, text: string): boolean {
  const name = named.exec(head)?.[1];
  if (name !== undefined) {
    if (selfRunning.test(head.replace(named, ''))) return false;
    // The first match is its declaration.
    return text.indexOf(`${name}(`, text.indexOf(`${name}(`) + 1) < 0;
  }
  const own = nameless.exec(head);
  return own !== null && !selfRunning.test(head.slice(0, own.index));
}

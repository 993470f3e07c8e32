/** The overlay's frame, and the popup window that passes it the review key. */
import { readFileSync } from 'node:fs';
import { bundled, inlineScript } from '#runtime/bundle.ts';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';

const here = (name: string) => new URL(`./${name}`, import.meta.url);
const frameScript = bundled(here('frame/frame.js'), inlineScript);
const frameStyle = readFileSync(here('frame/frame.css'), 'utf8');
const popupScript = bundled(here('key-popup.js'), inlineScript);

/**
 * `origin`: of the page of the site around the frame. Only it may frame the page, and the frame accepts messages only
 * from it. `isDraft`: whether that page is a preview.
 */
export type ReviewFrame = { publicId: string; siteTitle: string; origin: string; isDraft: boolean };

export function reviewFrame({ publicId, siteTitle, origin, isDraft }: ReviewFrame): WrittenPage {
  const close = html`<button class="quiet close" type="button" aria-label="Minimise">✕</button>`;
  return writePage({
    title: `Comments on ${siteTitle}`,
    layout: 'frame',
    script: frameScript(),
    style: frameStyle,
    ancestors: [origin],
    main: html`<section class="pill" data-view="pill">
<button id="start" type="button">Add comment</button>
<button id="count" type="button" class="quiet" hidden>…</button>
</section>
${welcomeView(siteTitle, isDraft, close)}
<section class="pill" data-view="picking" hidden>
<p>Choose a place on the page.</p>
<button id="stop" type="button" class="quiet">Cancel</button>
</section>
<section data-view="list" hidden>
<div class="top"><h1>${siteTitle}</h1>${close}</div>
<div class="scroll" tabindex="0"><p class="hint" id="none">No comments yet. Choose a place on the page, and describe what should change there.</p><div id="threads"></div></div>
<div class="bottom"><button id="rename" type="button" class="quiet small"></button>
<div class="two"><button id="point" type="button">Add comment</button><button id="leave" type="button" class="quiet">Exit review</button></div></div>
</section>
<section data-view="compose" hidden>
<div class="top"><h1>New comment</h1>${close}</div>
<div class="scroll" tabindex="0"><p class="quoted" id="quoted"></p>
<img class="shot" id="picture" alt="Screenshot of the page" hidden><p class="hint" id="picture-words" aria-live="polite"></p></div>
<div class="bottom"><label id="name-field">Your name (optional)<input id="name" maxlength="60" autocomplete="name"></label>
<label>What should change here?<textarea id="words" maxlength="4000" rows="3"></textarea></label>
<div class="two"><button id="send" type="button">Send</button><button id="discard" type="button" class="quiet">Discard</button></div></div>
</section>
${threadView(close)}
${endedView(close)}
<p class="fault" id="fault" role="alert" hidden></p>`,
    data: { site: publicId, origin },
  });
}

/** For a reader who opens their first review link: shown with the number of open comments. */
function welcomeView(siteTitle: string, isDraft: boolean, close: Html): Html {
  return html`<section data-view="welcome" hidden>
<div class="top"><h1>Welcome</h1>${close}</div>
<div class="scroll" tabindex="0"><p>You are reviewing ${isDraft ? 'a draft of ' : null}<strong>${siteTitle}</strong>. <span id="waiting"></span></p>
<p class="hint">Choose a place on the page, and describe what should change there.</p></div>
<div class="bottom two"><button id="begin" type="button">Add comment</button><button id="see" type="button" class="quiet" hidden>Show comments</button></div>
</section>`;
}

function endedView(close: Html): Html {
  return html`<section data-view="ended" hidden>
<div class="top"><h1>This review has ended</h1>${close}</div>
<div class="scroll" tabindex="0"><p>The review link no longer works, so nothing can be added. Comments that were sent are kept.</p>
<p class="hint">To continue, ask the person who sent the link for a new one, and open it.</p></div>
<div class="bottom"><button id="exit" type="button">Exit review</button></div>
</section>`;
}

function threadView(close: Html): Html {
  return html`<section data-view="thread" hidden>
<div class="top"><button class="quiet" id="back" type="button">← All</button><h1>Comment</h1>${close}</div>
<div class="scroll" tabindex="0"><p class="settled" id="settled" hidden></p><p class="quoted" id="about"></p><p class="hint" id="where" aria-live="polite"></p>
<button class="quiet small" id="go" type="button" hidden>Go to that page</button><ul class="messages" id="messages"></ul></div>
<div class="bottom"><textarea id="reply" maxlength="4000" rows="2" aria-label="Your reply" placeholder="Reply"></textarea>
<div class="two"><button id="answer" type="button">Reply</button><button id="settle" type="button" class="quiet">Resolve</button></div></div>
</section>`;
}

/** Opened by the frame. Without a key it explains how to get one. */
export function handOverPage(secret: string | undefined): WrittenPage {
  return writePage({
    title: 'Your review',
    layout: 'message',
    script: popupScript(),
    data: secret === undefined ? {} : { secret },
    main: html`<h1>${secret === undefined ? 'This link has expired' : 'One moment'}</h1>
<p>${secret === undefined ? 'Open your review link again in this browser. If it no longer works, ask the person who sent it for a new one.' : 'This window will close by itself. You can then go back to the website.'}</p>`,
  });
}

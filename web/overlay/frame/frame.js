/**
 * The overlay's frame. It alone has the review key, shows comments and sends them. It does not trust the page around it: values from the page
 * are validated and shown before they are sent, and the text is typed here.
 */
import { byId, showFault, textArea } from './dom.js';
import { Draft, emptied, isTyped, showReply } from './draft.js';
import { onPressed, restButtons, watchCover } from './guarded-buttons.js';
import { askName, drawName, keepName } from './name.js';
import { pictureOf, placementsOf, positionOf } from './page-messages.js';
import { endReview, hasEnded, hasKey, request, requestNamed, setKey } from './platform.js';
import { keyIn, openPopup } from './popup.js';
import { Threads } from './threads.js';
import { drawEnd, drawList, drawThread, drawWelcome, focused, sizes } from './views.js';

/** @typedef {import('./views.js').View} View */

const { site = '', origin: pageOrigin = '' } = document.querySelector('main')?.dataset ?? {};
const threads = new Threads();
/** @type {View | undefined} */
let view;
/** @type {string | null} The thread that is shown. */
let openId = null;
/** @type {Draft | null} */
let draft = null;
/** What to do with the key once the popup has sent it. */
let withKey = pick;

/** @param {object} message */
function tell(message) {
  parent.postMessage({ frontage: message }, pageOrigin);
}

addEventListener('message', (event) => {
  const { source, origin, data } = event;
  const key = keyIn(event);
  if (key !== undefined) return useKey(key);
  if (source !== parent || origin !== pageOrigin) return;
  const message = data?.frontage;
  if (!message || !Object.hasOwn(handlers, message.type)) return;
  handlers[message.type]?.(message);
});

/** @type {Record<string, (message: any) => unknown>} */
const handlers = {
  page({ page }) {
    if (typeof page === 'string' && page.startsWith('/')) threads.page = page.slice(0, 2048);
    void refresh().then(draw);
  },
  picked({ position, shot }) {
    // Ignored unless the frame asked the page for a place.
    if (view !== 'picking') return;
    draft = new Draft(positionOf(position), shot);
    show('compose');
  },
  picture(message) {
    if (draft && draft.shot === message.shot) draft.receive(pictureOf(message));
  },
  cancelled: () => view === 'picking' && show('list'),
  placed({ places }) {
    if (!Array.isArray(places)) return;
    threads.placements = placementsOf(places);
    if (view === 'thread' || view === 'list') draw();
  },
  opened({ n }) {
    const thread = threads.pinned[n - 1];
    if (thread) showThread(thread.id);
  },
};

/** @param {string | null} next Null if no link works. */
function useKey(next) {
  if (next === null) {
    endReview();
    return show('ended');
  }
  setKey(next);
  void refresh().then(() => hasKey() && withKey());
}

/** @param {() => void} work Done with the key. */
function unlocked(work) {
  if (hasKey()) return work();
  withKey = work;
  openPopup(site);
}

async function refresh() {
  if (hasKey()) {
    try {
      const received = await request('threads');
      const isSame = received.threads.length > 0 && JSON.stringify(received.threads) === JSON.stringify(threads.all);
      threads.all = received.threads;
      showFault('');
      // Drawing again would take the keyboard focus off the list.
      if (isSame) return tellPins();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (hasKey()) showFault(message);
      else if (!forgetEarlierLink()) showEnd(message);
    }
  }
  draw();
  tellPins();
}

/**
 * The key was of an earlier link: the next press gets that of the newest. As on a first page, the page keeps the focus.
 * Returns whether there is a newer link.
 */
function forgetEarlierLink() {
  if (view !== 'pill' || threads.all.length > 0 || !drawWelcome()) return false;
  setKey(null);
  view = undefined;
  show('welcome');
  return true;
}

/** @param {string} message */
function showEnd(message) {
  threads.all = [];
  if (isTyped(view)) showFault(message);
  else if (view !== 'pill') show('ended');
}

function tellPins() {
  const list = threads.pinned.map(({ position }, at) => ({ n: at + 1, position }));
  tell({ type: 'pins', list, active: threads.numberOf(openId) });
}

// Views

/** @param {View} next */
function show(next) {
  const isFirst = view === undefined;
  if (next !== view) restButtons();
  view = hasEnded() && next !== 'pill' ? 'ended' : next;
  tell({ type: 'size', mode: sizes[view] ?? 'panel' });
  draw();
  // Not at first, so that the page keeps the focus when it loads.
  if (view !== 'picking' && !isFirst) byId(focused[view]).focus({ preventScroll: true });
}

function pick() {
  show('picking');
  tell({ type: 'pick' });
}

/** @param {string} id */
function showThread(id) {
  openId = id;
  showReply(id);
  show('thread');
  const n = threads.numberOf(id);
  if (n) tell({ type: 'show', n });
  void refresh();
}

function draw() {
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-view]')))
    part.hidden = part.dataset.view !== view;
  document.body.dataset.open = view ?? 'undefined';
  drawName(view);
  drawEnd(hasEnded());
  // Without the key there is nothing to count.
  byId('count').hidden = !hasKey();
  byId('count').textContent = `${threads.openCount} open`;
  if (view === 'list') drawList(threads, showThread);
  if (view === 'compose') draft?.draw();
  if (view !== 'thread') return;
  const thread = threads.find(openId ?? '');
  if (thread) drawThread(thread, threads);
  else if (!hasEnded()) show('list');
}

// Buttons

async function sendComment() {
  const body = textArea('words').value.trim();
  if (!body) return showFault('Please write a comment first.');
  const sent = draft;
  if (!sent) return;
  await sent.settled;
  // The screenshot takes seconds, in which the comment may be discarded.
  if (draft !== sent) return;
  const fields = { page: threads.page, body, position: sent.position, ...sent.screenshot };
  const { thread } = await requestNamed('threads', fields, sent.key);
  draft = emptied();
  threads.all.unshift(thread);
  showThread(thread.id);
}

/**
 * @param {object} body
 * @param {typeof request} send
 */
async function changeThread(body, send = request) {
  await send(`threads/${openId}`, body);
  textArea('reply').value = '';
  await refresh();
}

// After a refused name its field is shown.
onPressed('send', () => sendComment().finally(draw));
onPressed('answer', () => {
  const message = textArea('reply').value.trim();
  return message ? changeThread({ message }, requestNamed).finally(draw) : showFault('Please write a reply first.');
});
onPressed('settle', () =>
  changeThread({ action: threads.find(openId ?? '')?.status === 'open' ? 'resolve' : 'reopen' }),
);
byId('start').onclick = () => (hasEnded() ? show('ended') : unlocked(pick));
byId('begin').onclick = () => unlocked(pick);
byId('see').onclick = () => unlocked(() => show('list'));
byId('rename').onclick = () => {
  askName();
  draw();
  byId('name').focus();
};
byId('name').onchange = () => {
  if (view !== 'list') return;
  keepName();
  draw();
};
byId('count').onclick = () => show('list');
byId('point').onclick = pick;
byId('stop').onclick = () => {
  tell({ type: 'stop' });
  show('list');
};
byId('back').onclick = () => {
  openId = null;
  show('list');
  void refresh();
};
byId('discard').onclick = () => {
  draft = emptied();
  show('list');
};
byId('go').onclick = () => tell({ type: 'go', page: threads.find(openId ?? '')?.page });
for (const id of ['leave', 'exit']) byId(id).onclick = () => tell({ type: 'leave' });
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.close')))
  button.onclick = () => show('pill');
addEventListener('keydown', ({ key: pressed, isComposing }) => {
  if (pressed === 'Escape' && !isComposing && view !== 'pill' && !textArea('words').value) show('pill');
});
setInterval(() => !document.hidden && hasKey() && view !== 'compose' && refresh(), 20_000);
watchCover();
show(!hasKey() && drawWelcome() ? 'welcome' : 'pill');
tell({ type: 'ready' });

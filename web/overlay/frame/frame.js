/**
 * The overlay's frame. It alone has the review key, shows comments and sends them. It does not trust the page around it: values from the page
 * are validated and shown before they are sent, and the text is typed here.
 */
import { byId, showFault, textArea } from './dom.js';
import { Draft, emptied, showReply } from './draft.js';
import { onPressed, restButtons, watchCover } from './guarded-buttons.js';
import { askName, drawName, keepName } from './name.js';
import { pictureOf, placementsOf, positionOf } from './page-messages.js';
import { hasKey, request, requestNamed, setKey } from './platform.js';
import { Threads } from './threads.js';
import { drawList, drawThread, drawWelcome } from './views.js';

/** @typedef {'pill' | 'welcome' | 'picking' | 'list' | 'compose' | 'thread'} View */

const { site = '', origin: pageOrigin = '' } = document.querySelector('main')?.dataset ?? {};
const threads = new Threads();
/** @type {View | undefined} */
let view;
/** @type {string | null} The thread that is shown. */
let openId = null;
/** @type {Draft | null} */
let draft = null;
/** @type {Window | null} */
let popup = null;
/** What to do with the key once the popup has sent it. */
let withKey = pick;

// Messages with the page

/** @param {object} message */
function tell(message) {
  parent.postMessage({ frontage: message }, pageOrigin);
}

addEventListener('message', ({ source, origin, data }) => {
  if (popup && source === popup && origin === location.origin && typeof data?.frontageReview === 'string') {
    useKey(data.frontageReview);
    return;
  }
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

// The key

/** @param {string} next */
function useKey(next) {
  setKey(next);
  void refresh().then(() => hasKey() && withKey());
}

/**
 * Does this with the key. The popup window can read the cookie that the review link set, which this frame cannot: it
 * sends the key here and closes.
 * @param {() => void} work
 */
function unlocked(work) {
  if (hasKey()) return work();
  withKey = work;
  popup = open(`/review/hand-over/${site}`, 'frontage-hand-over', 'popup,width=440,height=360');
  if (!popup) showFault('Your browser blocked a pop-up window. Please allow pop-ups and try again.');
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
      if (hasKey() || view !== 'pill') showFault(error instanceof Error ? error.message : String(error));
      else forgetEarlierLink();
    }
  }
  draw();
  tellPins();
}

/** The key was of an earlier link: the next press gets that of the newest. As on a first page, the page keeps the focus. */
function forgetEarlierLink() {
  if (threads.all.length > 0 || !drawWelcome()) return;
  view = undefined;
  show('welcome');
}

function tellPins() {
  const list = threads.pinned.map(({ position }, at) => ({ n: at + 1, position }));
  tell({ type: 'pins', list, active: threads.numberOf(openId) });
}

// Views

/** @type {Record<View, string>} */
const focused = { welcome: 'begin', compose: 'words', list: 'point', thread: 'back', picking: 'stop', pill: 'start' };

/** @type {Partial<Record<View, string>>} The window's size, if not that of a panel. */
const sizes = { pill: 'pill', picking: 'wide', welcome: 'card' };

/** @param {View} next */
function show(next) {
  const isFirst = view === undefined;
  if (next !== view) restButtons();
  view = next;
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
  // Without the key there is nothing to count.
  byId('count').hidden = !hasKey();
  byId('count').textContent = `${threads.openCount} open`;
  if (view === 'list') drawList(threads, showThread);
  if (view === 'compose') draft?.draw();
  if (view !== 'thread') return;
  const thread = threads.find(openId ?? '');
  if (thread) drawThread(thread, threads);
  else show('list');
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
byId('start').onclick = () => unlocked(pick);
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
byId('leave').onclick = () => tell({ type: 'leave' });
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.close')))
  button.onclick = () => show('pill');
addEventListener('keydown', ({ key: pressed, isComposing }) => {
  if (pressed === 'Escape' && !isComposing && view !== 'pill' && !textArea('words').value) show('pill');
});
setInterval(() => !document.hidden && hasKey() && view !== 'compose' && refresh(), 20_000);
watchCover();
show(!hasKey() && drawWelcome() ? 'welcome' : 'pill');
tell({ type: 'ready' });

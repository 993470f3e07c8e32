/**
 * The overlay's frame. It alone has the review key, shows comments and sends them. It does not trust the page around it: values from the page
 * are validated and shown before they are sent, and the text is typed here.
 */
import { byId, showFault, textArea } from './dom.js';
import { Draft } from './draft.js';
import { onPressed, restButtons, watchCover } from './guarded-buttons.js';
import { readKey, storeKey } from './key.js';
import { pictureOf, placementsOf, positionOf } from './page-messages.js';
import { Threads } from './threads.js';
import { drawList, drawThread } from './views.js';

/** @typedef {'pill' | 'picking' | 'list' | 'compose' | 'thread'} View */

const { site = '', origin: pageOrigin = '' } = document.querySelector('main')?.dataset ?? {};
const threads = new Threads();
let key = readKey(site);
/** @type {View | undefined} */
let view;
/** @type {string | null} The thread that is shown. */
let openId = null;
/** @type {Draft | null} */
let draft = null;
/** @type {Window | null} */
let popup = null;

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

/** @param {string | null} next */
function useKey(next) {
  key = next;
  storeKey(site, next);
  void refresh().then(() => next && key && pick());
}

/** The popup window can read the cookie that the review link set, which this frame cannot. It sends the key here and closes. */
function unlock() {
  popup = open(`/review/hand-over/${site}`, 'frontage-hand-over', 'popup,width=440,height=360');
  if (!popup) showFault('Your browser blocked a pop-up window. Please allow pop-ups and try again.');
}

// The platform

/**
 * Throws an `Error` whose message is for the reviewer.
 * @param {string} path
 * @param {object} [body]
 * @param {string} [idempotencyKey]
 */
async function request(path, body, idempotencyKey = crypto.randomUUID()) {
  const response = await fetch(`/review/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      'x-review': key ?? '',
      ...(body ? { 'content-type': 'application/json', 'idempotency-key': idempotencyKey } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).catch(() => undefined);
  if (!response) throw new Error('The connection was lost. Your text is still here; please try again.');
  const parsed = await response.json().catch(() => ({}));
  if (response.ok) return parsed;
  if ([401, 404, 410].includes(response.status) && path === 'threads' && !body) useKey(null);
  throw new Error(parsed.error?.message ?? 'Something went wrong on our side. Please try again in a moment.');
}

async function refresh() {
  if (key) {
    try {
      const received = await request('threads');
      const isSame = received.threads.length > 0 && JSON.stringify(received.threads) === JSON.stringify(threads.all);
      threads.all = received.threads;
      showFault('');
      // Drawing again would take the keyboard focus off the list.
      if (isSame) return tellPins();
    } catch (error) {
      showFault(error instanceof Error ? error.message : String(error));
    }
  }
  draw();
  tellPins();
}

function tellPins() {
  const list = threads.pinned.map(({ position }, at) => ({ n: at + 1, position }));
  tell({ type: 'pins', list, active: threads.numberOf(openId) });
}

// Views

/** @type {Record<View, string>} */
const focused = { compose: 'words', list: 'point', thread: 'back', picking: 'stop', pill: 'start' };

/** @param {View} next */
function show(next) {
  const isFirst = view === undefined;
  if (next !== view) restButtons();
  view = next;
  tell({ type: 'size', mode: view === 'pill' ? 'pill' : view === 'picking' ? 'wide' : 'panel' });
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
  textArea('reply').value = '';
  show('thread');
  const n = threads.numberOf(id);
  if (n) tell({ type: 'show', n });
  void refresh();
}

function draw() {
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-view]')))
    part.hidden = part.dataset.view !== view;
  document.body.dataset.open = view ?? 'undefined';
  // Without the key there is nothing to count.
  byId('count').hidden = !key;
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
  const { thread } = await request('threads', fields, sent.key);
  textArea('words').value = '';
  draft = null;
  threads.all.unshift(thread);
  showThread(thread.id);
}

/** @param {object} body */
async function changeThread(body) {
  await request(`threads/${openId}`, body);
  textArea('reply').value = '';
  await refresh();
}

onPressed('send', sendComment);
onPressed('answer', () => {
  const message = textArea('reply').value.trim();
  return message ? changeThread({ message }) : showFault('Please write a reply first.');
});
onPressed('settle', () =>
  changeThread({ action: threads.find(openId ?? '')?.status === 'open' ? 'resolve' : 'reopen' }),
);
byId('start').onclick = () => (key ? pick() : unlock());
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
  draft = null;
  show('list');
};
byId('go').onclick = () => tell({ type: 'go', page: threads.find(openId ?? '')?.page });
byId('leave').onclick = () => tell({ type: 'leave' });
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.close')))
  button.onclick = () => show('pill');
addEventListener('keydown', ({ key: pressed, isComposing }) => {
  if (pressed === 'Escape' && !isComposing && view !== 'pill' && !textArea('words').value) show('pill');
});
setInterval(() => !document.hidden && key && view !== 'compose' && refresh(), 20_000);
watchCover();
show('pill');
tell({ type: 'ready' });

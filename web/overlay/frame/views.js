/** The list of threads, one thread, and what else a view shows. */
import { make } from '#web/dom.js';
import { pageName } from '#web/page-names.js';
import { readerTime, shortDate } from '#web/reader-times.js';
import { byId } from './dom.js';

/**
 * @typedef {import('./threads.js').Threads} Threads
 * @typedef {import('./threads.js').Thread} Thread
 */

/** @typedef {'pill' | 'welcome' | 'picking' | 'list' | 'compose' | 'thread' | 'ended'} View */

/** @type {Record<View, string>} The element that has the keyboard focus at first. */
export const focused = {
  welcome: 'begin',
  compose: 'words',
  list: 'point',
  thread: 'back',
  picking: 'stop',
  pill: 'start',
  ended: 'exit',
};

/** @type {Partial<Record<View, string>>} The window's size, if not that of a panel. */
export const sizes = { pill: 'pill', picking: 'wide', welcome: 'card', ended: 'card' };

/**
 * Removes what would send something, once the link has ended.
 * @param {boolean} ended
 */
export function drawEnd(ended) {
  byId('start').textContent = ended ? 'Review ended' : 'Add comment';
  for (const id of ['send', 'answer', 'settle']) byId(id).hidden = ended;
}

/** Welcomes who has opened the review link, with the number of open comments. Returns whether this is the first page. */
export function drawWelcome() {
  const open = new URLSearchParams(location.search).get('open') ?? '';
  if (!/^\d{1,4}$/.test(open)) return false;
  const count = Number(open);
  byId('waiting').textContent = count === 1 ? '1 comment is open.' : `${count || 'No'} comments are open.`;
  byId('see').hidden = count === 0;
  return true;
}

/**
 * @param {Threads} threads
 * @param {(id: string) => void} onOpen
 */
export function drawList(threads, onOpen) {
  const groups = threads.groups.filter(([, some]) => some.length > 0);
  byId('threads').replaceChildren(
    ...groups.flatMap(([title, some]) => [
      make('h2', { textContent: title }),
      make('ul', { className: 'rows' }, ...some.map((thread) => rowOf(thread, threads, onOpen))),
    ]),
  );
  byId('none').hidden = threads.all.length > 0;
}

/**
 * @param {Thread} thread
 * @param {Threads} threads
 * @param {(id: string) => void} onOpen
 */
function rowOf(thread, threads, onOpen) {
  const n = threads.numberOf(thread.id);
  const [first] = thread.messages;
  const replies = thread.messages.length - 1;
  const notes = [
    first && authorOf(first),
    threads.isHere(thread) ? '' : pageName(thread.page),
    threads.placeNote(thread),
    replies > 0 ? `${replies} ${replies === 1 ? 'reply' : 'replies'}` : '',
  ];
  const body = make('span', { className: 'words', textContent: first?.body });
  const small = make('small', { textContent: notes.filter(Boolean).join(' · ') });
  const button = make('button', { className: 'thread', type: 'button', onclick: () => onOpen(thread.id) });
  if (n) button.append(make('span', { className: 'number', textContent: n }));
  button.append(make('span', { className: 'text' }, body, small));
  return make('li', {}, button);
}

const kinds = { agent: ' · agent', collaborator: ' · collaborator', owner: '' };

/** @param {import('./threads.js').Message} message */
const authorOf = ({ author, author_name: name }) => name ?? author;

/**
 * @param {Thread} thread
 * @param {Threads} threads
 */
export function drawThread(thread, threads) {
  const { quote } = thread.position ?? {};
  byId('about').textContent = quote ? `“${quote}”` : pageName(thread.page);
  byId('where').textContent = threads.placeNote(thread);
  byId('settled').hidden = thread.resolved_at === null;
  byId('settled').textContent = thread.resolved_at && `✓ Resolved · ${readerTime(thread.resolved_at, shortDate)}`;
  byId('go').hidden = threads.isHere(thread);
  byId('messages').replaceChildren(...thread.messages.map(messageOf));
  byId('settle').textContent = thread.status === 'open' ? 'Resolve' : 'Reopen';
}

/** @param {import('./threads.js').Message} message */
function messageOf(message) {
  const { author_kind: kind, body, created_at: createdAt } = message;
  const line = make('small', {
    textContent: `${authorOf(message)}${kinds[kind]} · ${readerTime(createdAt, shortDate)}`,
  });
  return make('li', {}, line, make('p', { textContent: body }));
}

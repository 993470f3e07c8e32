/** The script of the upload page. Without it, the browser submits the form. */
import { longDate, readerTime } from '#web/reader-times.js';
import { UploadRow } from './upload-row.js';

const parallel = 2;
const form = /** @type {HTMLFormElement} */ (document.getElementById('sending'));
const drop = /** @type {HTMLElement} */ (document.getElementById('drop'));
const camera = /** @type {HTMLElement} */ (document.getElementById('camera'));
const rows = /** @type {HTMLElement} */ (document.getElementById('sent'));
const left = /** @type {HTMLElement} */ (document.getElementById('left'));
const bytesMax = Number(form.dataset.bytes);
/** @type {{ file: File, row: UploadRow }[]} */
const waiting = [];
let running = 0;
let isClosed = false;

/** @type {HTMLElement} */ (document.getElementById('send')).hidden = true;
drop.classList.add('live');
const hasTouch = matchMedia('(pointer: coarse)').matches;
camera.hidden = !hasTouch;
const title = drop.querySelector('strong');
if (!hasTouch && title) title.textContent = 'Drop photos here, or choose them';
for (const time of document.querySelectorAll('time')) {
  time.textContent = readerTime(time.dateTime, longDate);
}

for (const input of form.querySelectorAll('input')) {
  if (input.type !== 'file') continue;
  input.addEventListener('change', () => {
    add(input.files);
    input.value = '';
  });
}
for (const name of ['dragenter', 'dragover']) {
  addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add('over');
  });
}
addEventListener('dragleave', (event) => {
  event.preventDefault();
  if (!event.relatedTarget) drop.classList.remove('over');
});
addEventListener('drop', (event) => {
  event.preventDefault();
  drop.classList.remove('over');
  add(event.dataTransfer?.files);
});
addEventListener('beforeunload', (event) => {
  if (running > 0) event.preventDefault();
});

/** @param {FileList | null | undefined} files */
function add(files) {
  if (isClosed) return;
  for (const file of files ?? []) {
    const row = new UploadRow(rows, file);
    if (file.size > bytesMax) row.refuse(`This file is larger than the limit of ${form.dataset.size}.`);
    else waiting.push({ file, row });
  }
  sendNext();
}

function sendNext() {
  while (running < parallel) {
    const next = waiting.shift();
    if (!next) return;
    running += 1;
    send(next.file, next.row);
  }
}

/**
 * @param {File} file
 * @param {UploadRow} row
 */
function send(file, row) {
  const retry = () => {
    waiting.push({ file, row });
    sendNext();
  };
  const done = () => {
    running -= 1;
    sendNext();
  };
  const again = () => {
    waiting.unshift({ file, row });
    done();
  };
  const request = new XMLHttpRequest();
  request.upload.onprogress = ({ loaded }) => row.progress(loaded, file.size);
  request.onload = () => {
    const answer = parse(request.responseText);
    const { status } = request;
    if (sendLater(request, row, again)) return;
    if (status === 200) accept(row, answer.files_left);
    else
      row.refuse(
        answer?.error?.message ?? 'Something went wrong on our side. Please try again.',
        status === 409 || status >= 500 ? retry : undefined,
      );
    const code = answer?.error?.code;
    if (code === 'expired' || code === 'site_archived') close(answer.error.message);
    done();
  };
  // Also if the file was changed or removed while it was being read.
  request.onerror = () => {
    row.refuse('The connection was lost before the photo was fully sent.', retry);
    done();
  };
  post(request, file);
}

/**
 * @param {XMLHttpRequest} request
 * @param {File} file
 */
function post(request, file) {
  request.open('POST', location.pathname);
  request.setRequestHeader('content-type', 'application/octet-stream');
  request.setRequestHeader('x-file-name', encodeURIComponent(file.name));
  request.setRequestHeader('accept', 'application/json');
  request.send(file);
}

/**
 * Sends a file again if the server was busy, after the seconds that it names. Returns whether it will.
 * @param {XMLHttpRequest} request
 * @param {UploadRow} row
 * @param {() => void} again
 */
function sendLater(request, row, again) {
  const seconds = Number(request.getResponseHeader('retry-after'));
  if (request.status !== 429 || !(seconds > 0 && seconds <= 60)) return false;
  row.wait();
  setTimeout(again, seconds * 1000);
  return true;
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * @param {UploadRow} row
 * @param {number} filesLeft
 */
function accept(row, filesLeft) {
  row.accept();
  left.textContent = filesLeft === 1 ? 'You can send 1 more photo.' : `You can send ${filesLeft} more photos.`;
  // Another upload in progress may still fail and free its place.
  if (filesLeft === 0 && running === 1) close('All your photos have been sent. Thank you!');
}

/** @param {string} reason */
function close(reason) {
  isClosed = true;
  left.textContent = reason;
  form.hidden = true;
  for (const { row } of waiting.splice(0)) row.refuse(reason);
}

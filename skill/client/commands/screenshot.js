/** `screenshot`: a picture of a page as a file. */
import { bodyOf, call, deploymentOf, pause } from '../call.js';
import { formatOf, save } from '../downloads.js';
import { print, toJson } from '../output.js';
import { exits, Stop, usage } from '../server.js';

/** @typedef {import('./commands.js').Command} Command */

const attemptsMax = 10;
const forms = ['width', 'height', 'scheme', 'format'];
const formats = ['webp', 'png'];

/** @type {Command} */
export const screenshot = {
  use: 'frontage screenshot <site|deployment> [path] [--width 390] [--height full] [--scheme dark] [--format webp|png] [--to file]',
  about:
    'Save a picture of a page of the live version, or of the version with this id. Without --format, the end of the file’s name chooses the format: .png or .webp. The default is WebP.',
  async run(server, [named, path = '/'], { flags, json: asJson }) {
    const { to, ...form } = flags;
    const ending = typeof to === 'string' ? formatOf(to) : '';
    if (!form.format && formats.includes(ending)) form.format = ending;
    const unknown = Object.keys(form).find((name) => !forms.includes(name));
    if (unknown) throw usage(`There is no option --${unknown}.`, 'frontage screenshot --help');
    const id = await deploymentOf(server, named);
    const query = new URLSearchParams({ path, ...form });
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const response = await call(server, 'GET', `/v1/deployments/${encodeURIComponent(id)}/screenshot?${query}`, {
        headers: { prefer: 'wait=50' },
      });
      if (response.headers.get('content-type')?.startsWith('application/json')) {
        await bodyOf(response);
        await pause(2000);
        continue;
      }
      const file = typeof to === 'string' ? to : fileName(path, form);
      await save(response, file);
      return print(asJson ? toJson({ file }) : file);
    }
    throw new Stop(exits.refused, 'The picture is not finished yet. Run the same command again later.');
  },
};

/**
 * `about-390.webp`
 * @param {string} path
 * @param {Record<string, any>} form
 */
function fileName(path, { width = 390, scheme, format = 'webp' }) {
  const name = path.replaceAll(/[^\w-]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'home';
  return `${[name, width, scheme].filter(Boolean).join('-')}.${format}`;
}

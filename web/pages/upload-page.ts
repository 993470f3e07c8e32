/** The page behind an upload link: photos to drop or take, their progress, and why one was refused. */
import { bundled, inlineScript } from '#runtime/bundle.ts';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { illustration } from './illustration.ts';

export type UploadPage = {
  /** The site's title. */
  siteTitle: string;
  filesLeft: number;
  fileBytesMax: number;
  /** The limit in words: "25 MB". */
  fileSizeMax: string;
  expiresAt: Date;
  /** Results of files sent without a script. */
  results?: UploadResult[];
};

export type UploadResult = { name: string; refused?: string };

const script = bundled(new URL('./upload-page.js', import.meta.url), inlineScript);
// Without HEIC, so that a phone converts its photos.
const takes = 'image/jpeg,image/png,image/webp,image/avif,image/gif,image/svg+xml';
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' });

/** The page of an open link. */
export function uploadPage(page: UploadPage): WrittenPage {
  const { siteTitle, filesLeft, fileBytesMax, fileSizeMax, expiresAt, results = [] } = page;
  return writePage({
    title: `Photos for ${siteTitle}`,
    layout: 'card',
    brand: siteTitle,
    form: true,
    script: script(),
    main: html`<h1>Photos for ${siteTitle}</h1>
<p class="lead" id="left">${leftWords(filesLeft)}</p>
<form class="panel" id="sending" method="post" enctype="multipart/form-data" data-bytes="${fileBytesMax}" data-size="${fileSizeMax}">
<label class="drop" id="drop">
<strong>Choose photos</strong>
<span class="hint" id="dropping">JPG, PNG or WebP, up to ${fileSizeMax} each.</span>
<input id="files" name="file" type="file" multiple accept="${takes}">
</label>
<label class="button quiet camera" id="camera" hidden>Take a photo<input type="file" accept="image/jpeg" capture="environment"></label>
<button id="send">Send</button>
</form>
<ul class="rows sent" id="sent" aria-live="polite">${results.map(resultRow)}</ul>
<p class="hint">Before we store a photo, we remove its location and the details of the camera.</p>
<p class="hint">This link expires on <time datetime="${expiresAt.toISOString()}">${day.format(expiresAt)} UTC</time>. Anyone with this link can send photos to the website.</p>`,
  });
}

function leftWords(filesLeft: number): string {
  return filesLeft === 1 ? 'You can send 1 more photo.' : `You can send ${filesLeft} more photos.`;
}

function resultRow({ name, refused }: UploadResult): Html {
  return html`<li class="${refused ? 'refused' : 'done'}"><div><strong>${name}</strong><small>${refused ?? 'Sent to the website.'}</small></div></li>`;
}

/** The page of a closed or unknown link. */
export function closedPage(title: string, text: string, results: UploadResult[] = []): WrittenPage {
  return writePage({
    title,
    layout: results.length > 0 ? 'card' : 'message',
    main: html`${results.length > 0 ? null : illustration(false)}
<h1>${title}</h1>
<p class="lead">${text}</p>
${results.length > 0 ? html`<ul class="rows sent">${results.map(resultRow)}</ul>` : null}`,
  });
}

/** What to do about each kind of finding, in one sentence. Pure. */
import type { FindingKind } from '#rules/findings.ts';

type More = Record<string, unknown>;

const advice: Record<FindingKind, (more: More) => string> = {
  page_failed: () => 'Find the script that does not end, or the picture that is too large to draw.',
  broken_picture: () => 'Correct the address of the picture, or add the file.',
  broken_file: () => 'Correct the address of the file, or add the file.',
  broken_link: () => 'Correct the address of the link, add the page, or remove the link.',
  script_error: () => 'Correct the script that reports this error.',
  overflow: ({ by, needsViewport }) =>
    needsViewport
      ? 'Add <meta name="viewport" content="width=device-width"> to the head.'
      : `Let the element become narrower, for example with max-width: 100%; the page is ${by} px wider than the window.`,
  contrast: ({ ratio, wanted, text, background }) =>
    `Use colours with a contrast of at least ${wanted ?? '4.5:1'}; ${text ? `${text} on ${background}` : 'this'} is ${ratio}:1.`,
  no_name: ({ isFrame }) =>
    isFrame ? 'Say what the frame shows: title="…".' : 'Give the element a name: text, a label, or aria-label.',
  no_alternative_text: () => 'Describe the picture with alt="…", or use alt="" if it only decorates.',
  small_text: ({ size }) => `Use a font size of at least 12 px; this is ${size} px.`,
  layout_shift: ({ score }) =>
    `Reserve the space of what loads late, for example with width and height of pictures; the shift is ${score}, and 0.1 is the limit.`,
  no_title: () => 'Add a <title> that says what the page is about.',
  no_language: () => 'Name the language of the page: <html lang="…">.',
  heavy_page: () => 'Make the largest files smaller, or load them only when they are needed.',
  large_picture: ({ natural, shown, width }) =>
    `Save the picture smaller: it is ${natural} px wide and shown ${shown} px wide in a window of ${width} px.`,
  no_description: ({ isEmpty }) =>
    `${isEmpty ? 'Fill in' : 'Add'} <meta name="description" content="…">: search engines show it below the title.`,
  no_share_image: () => 'Add <meta property="og:image" content="…">: messengers show it with the link.',
};

export const adviceFor = (kind: FindingKind, more: More = {}): string => advice[kind](more);

/** What a page asks of a visitor, and where it sends that. Nothing is executed or fetched, and every size is bounded. */
import { setImmediate as othersTurn } from 'node:timers/promises';
import { Parser } from 'htmlparser2';
import { isExecutable, refreshOf } from './elements.ts';
import { createHiddenMarkupDetector } from './hidden.ts';
import { joinScript, noScript, overlap, pieceMax, readScript, type ScriptFacts } from './scripts.ts';

export type FormFacts = { id: string | undefined; actions: string[]; hasPassword: boolean };
export type ScannedPage = {
  base: string | undefined;
  forms: FormFacts[];
  hasPassword: boolean;
  hasField: boolean;
  /** Targets of meta refreshes within two seconds. */
  refreshes: string[];
  /** All inline scripts together. */
  script: ScriptFacts;
  /** Addresses of external scripts. */
  scripts: string[];
  /** Title, headings, labels and alternative texts. */
  labelText: string;
  seedPhrase: boolean;
  /** Whether it was read to its end and nothing relevant was dropped. */
  whole: boolean;
};

// Beyond this depth the parser takes quadratic time.
const depthMax = 2_048;
const formsMax = 200;
const actionsMax = 200;
const scriptsMax = 50;
const labelTextMax = 256 * 1024;
const sliceBytes = 16_384;
/** Frames with `srcdoc`, nested ones included. */
const framesMax = 50;
const seeds =
  /\b(?:seed|recovery|mnemonic|secret (?:recovery )?)\s*(?:phrase|words)\b|\b(?:12|24)[\s-]words?\b.{0,40}\bwallet/i;
const inline = /^(?:a|abbr|b|bdi|bdo|big|code|em|font|i|ins|mark|s|small|span|strong|sub|sup|tt|u|wbr)$/;
const naming = /^(?:title|h1|h2|h3|legend|button|label)$/;

type ScanOptions = {
  /** Called at each slice; an error from it ends the scan. */
  beat: () => void;
  /** XML: elements may be self-closing and prefixed. */
  isXml?: boolean;
  frames?: { left: number };
};

export async function scanPage(content: AsyncIterable<Buffer>, options: ScanOptions): Promise<ScannedPage> {
  const { beat, isXml = false, frames = { left: framesMax } } = options;
  const page = emptyPage();
  const parser = createPageParser(page, isXml);
  const hides = isXml ? createHiddenMarkupDetector() : () => false;
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const chunk of content) {
    decoder ??= new TextDecoder(charsetOf(chunk));
    for (let at = 0; at < chunk.length && parser.depth() <= depthMax; at += sliceBytes) {
      await othersTurn();
      beat();
      const text = decoder.decode(chunk.subarray(at, at + sliceBytes), { stream: true });
      if (hides(text)) page.whole = false;
      parser.write(text);
    }
    if (parser.depth() > depthMax) break;
  }
  if (parser.depth() > depthMax) page.whole = false;
  parser.end();
  await addFrames(page, parser.frames, { beat, frames });
  return page;
}

const emptyPage = (): ScannedPage => ({
  base: undefined,
  forms: [],
  hasPassword: false,
  hasField: false,
  refreshes: [],
  script: noScript(),
  scripts: [],
  labelText: '',
  seedPhrase: false,
  whole: true,
});

/** Scans the frames of a page, given by their `srcdoc`, and adds them to it. */
async function addFrames(
  page: ScannedPage,
  sources: readonly string[],
  { beat, frames }: Required<Pick<ScanOptions, 'beat' | 'frames'>>,
): Promise<void> {
  for (const source of sources) {
    if (frames.left === 0) {
      page.whole = false;
      return;
    }
    frames.left -= 1;
    join(page, await scanPage(oneChunk(source), { beat, frames }));
  }
}

async function* oneChunk(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

/** A byte order mark overrides every other declaration of the encoding. */
function charsetOf(chunk: Buffer): string {
  if (chunk[0] === 0xff && chunk[1] === 0xfe) return 'utf-16le';
  return chunk[0] === 0xfe && chunk[1] === 0xff ? 'utf-16be' : 'utf-8';
}

function createPageParser(page: ScannedPage, isXml: boolean) {
  const frames: string[] = [];
  const open: FormFacts[] = [];
  /** `apart`: a block-level element separates words. */
  const inside = { depth: 0, script: false, naming: 0, apart: false };
  let script = '';
  let spoken = '';

  function takeScript(text: string, isLast: boolean): void {
    script += text;
    if (script.length < pieceMax && !isLast) return;
    if (script.trim() !== '') readScript(page.script, script);
    script = isLast ? '' : script.slice(-overlap);
  }

  function takeFrame(source: string): void {
    if (frames.length < framesMax) frames.push(source);
    else page.whole = false;
  }

  function formOf(id: string | undefined): FormFacts[] {
    if (id === undefined) return open;
    const known = page.forms.find((one) => one.id === id);
    // The form may follow later.
    return [known ?? addForm({ id, actions: [], hasPassword: false })];
  }

  function addForm(form: FormFacts): FormFacts {
    if (page.forms.length < formsMax) page.forms.push(form);
    else page.whole = false;
    return form;
  }

  function beginForm({ id, action }: Record<string, string>): void {
    const [known] = id === undefined ? [] : page.forms.filter((one) => one.id === id);
    const form = known ?? addForm({ id, actions: [], hasPassword: false });
    if (action !== undefined) addAction(form, action);
    if (open.length < formsMax) open.push(form);
    else page.whole = false;
  }

  function addAction({ actions }: FormFacts, action: string): void {
    if (actions.length < actionsMax) actions.push(action.trim());
    else page.whole = false;
  }

  function field(name: string, attributes: Record<string, string>): void {
    const type = (attributes.type ?? '').toLowerCase();
    if (name !== 'button' && type !== 'hidden' && type !== 'submit') page.hasField = true;
    const forms = formOf(attributes.form);
    if (name === 'input' && type === 'password') {
      page.hasPassword = true;
      for (const form of forms) form.hasPassword = true;
    }
    if (attributes.formaction !== undefined) for (const form of forms) addAction(form, attributes.formaction);
  }

  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        const name = unprefixed(tag);
        inside.depth += 1;
        if (naming.test(name)) inside.naming += 1;
        inside.apart ||= !inline.test(name);
        if (name === 'form') beginForm(attributes);
        if (name === 'input' || name === 'button' || name === 'textarea') field(name, attributes);
        if (name === 'base' && page.base === undefined && attributes.href) page.base = attributes.href.trim();
        const refresh = name === 'meta' ? refreshOf(attributes) : undefined;
        if (refresh !== undefined) page.refreshes.push(refresh);
        if (name === 'img' && attributes.alt) addLabelText(page, ` ${attributes.alt} `);
        if (name === 'iframe' && attributes.srcdoc) takeFrame(attributes.srcdoc);
        if (name === 'script') {
          inside.script = isExecutable(attributes.type);
          const src = attributes.src ?? attributes.href ?? attributes['xlink:href'];
          if (src && page.scripts.length < scriptsMax) page.scripts.push(src.trim());
          else if (src) page.whole = false;
        }
        for (const event of ['onload', 'onpageshow', 'onerror']) {
          const its = attributes[event];
          if (its !== undefined) readScript(page.script, its.slice(0, pieceMax));
          if (its !== undefined && its.length > pieceMax) page.whole = false;
        }
      },
      ontext(text) {
        if (inside.script) return takeScript(text, false);
        const said = inside.apart ? ` ${text}` : text;
        inside.apart = false;
        if (inside.naming > 0) addLabelText(page, said);
        spoken = `${spoken}${said}`.slice(-sliceBytes * 2);
        if (!page.seedPhrase && seeds.test(spoken)) page.seedPhrase = true;
        spoken = spoken.slice(-100);
      },
      onclosetag(tag, isImplied) {
        const name = unprefixed(tag);
        inside.depth -= 1;
        inside.apart ||= !inline.test(name);
        if (naming.test(name)) inside.naming = Math.max(0, inside.naming - 1);
        if (name === 'script') {
          takeScript('', true);
          inside.script = false;
        }
        // Like browsers: a form ends at its own end tag, not with its parent.
        if (name === 'form' && !isImplied) open.pop();
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true, xmlMode: isXml },
  );
  return {
    frames,
    depth: () => inside.depth,
    write: (text: string) => parser.write(text),
    end() {
      parser.end();
      takeScript('', true);
    },
  };
}

/** In XML, `form` and `x:form` may be the same element. */
const unprefixed = (tag: string): string => tag.slice(tag.lastIndexOf(':') + 1);

function addLabelText(page: ScannedPage, text: string): void {
  page.labelText += text.slice(0, labelTextMax - page.labelText.length);
  if (page.labelText.length === labelTextMax) page.whole = false;
}

function join(page: ScannedPage, inner: ScannedPage): void {
  page.forms.push(...inner.forms);
  page.refreshes.push(...inner.refreshes);
  page.scripts.push(...inner.scripts);
  joinScript(page.script, inner.script);
  page.hasPassword ||= inner.hasPassword;
  page.hasField ||= inner.hasField;
  page.seedPhrase ||= inner.seedPhrase;
  page.whole &&= inner.whole;
  addLabelText(page, ` ${inner.labelText}`);
}

/** Whether a text that is served unchanged is what its extension says, and could not be read as a web page. */

const parsedBytesMax = 1_048_576;

/** The start of a web page or of XML (WHATWG, MIME Sniffing Standard, section 7.1). */
const markup =
  /^\s*<(!doctype|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--|\?xml|\?php|svg|meta|link|img)(?![a-z0-9])/i;

/** Texts whose first line says what they are. */
const starts: Record<string, [start: RegExp, what: string]> = {
  ics: [/^BEGIN:VCALENDAR\r?\n/, 'do not begin with BEGIN:VCALENDAR'],
  vtt: [/^WEBVTT(?=[\s]|$)/, 'do not begin with WEBVTT'],
};

/** What is wrong with the bytes, as the end of "its contents …". A file without an extension is JSON or plain text. */
export async function textFault(extension: string, content: AsyncIterable<Buffer>): Promise<string | undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const notText = 'are not UTF-8 text';
  let head = '';
  let bytes = 0;
  try {
    for await (const chunk of content) {
      if (chunk.includes(0)) return notText;
      const text = decoder.decode(chunk, { stream: true });
      bytes += chunk.length;
      if (bytes <= parsedBytesMax || head === '') head += text;
    }
    head += decoder.decode();
  } catch {
    return notText;
  }
  if (markup.test(head.slice(0, 4096).trimStart())) return 'begin as a web page does';
  const [start, what] = starts[extension] ?? [];
  if (start && !start.test(head)) return what;
  const isJson = extension === 'json' || extension === 'webmanifest';
  return isJson && bytes <= parsedBytesMax && !isParsable(head) ? 'are not valid JSON' : undefined;
}

function isParsable(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A browser without a screen: it keeps cookies, says where its forms come from, and sends what stands in them. */

export type Shown = { status: number; text: string; url: string; headers: Headers };
export type Browser = ReturnType<typeof newBrowser>;

const tags = (text: string, name: string) => [...text.matchAll(new RegExp(`<${name}\\b([^>]*)>`, 'g'))];
const attribute = (tag: string, name: string) => decode(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
const decode = (text: string) => text.replace(/&#(\d+);/g, (_all, code) => String.fromCharCode(code));

/** The forms of a page: where each goes, and the fields it already holds. */
export function formsOf({
  text,
}: Pick<Shown, 'text'>): { action: string; inside: string; fields: Record<string, string> }[] {
  return [...text.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(([, tag = '', inside = '']) => {
    const hidden = tags(inside, 'input').filter(([, one = '']) => attribute(one, 'type') === 'hidden');
    const fields = hidden.map(([, one = '']) => [attribute(one, 'name'), attribute(one, 'value')]);
    return { action: attribute(tag, 'action'), inside, fields: Object.fromEntries(fields) };
  });
}

export function newBrowser(base: string) {
  const cookies = new Map<string, string>();

  async function go(
    method: string,
    path: string,
    fields?: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Shown> {
    const answer = await fetch(new URL(path, base), {
      method,
      redirect: 'manual',
      headers: {
        ...(cookies.size > 0 ? { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') } : {}),
        ...(fields ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
        ...headers,
      },
      ...(fields ? { body: new URLSearchParams(fields).toString() } : {}),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await answer.text();
    const to = answer.headers.get('location');
    const isOurs = to !== null && new URL(to, base).origin === new URL(base).origin;
    if (isOurs && answer.status === 303) return go('GET', to);
    return { status: answer.status, text, url: path, headers: answer.headers };
  }

  return {
    cookies,
    open: (path: string) => go('GET', path),
    go,
    /** Presses a button of the shown page: the first form that goes to `action` and holds the button's words. */
    async press(page: Shown, button: string, typed: Record<string, string> = {}): Promise<Shown> {
      const form = formsOf(page).find(({ inside }) => new RegExp(`<button[^>]*>${button}<`).test(inside));
      if (!form) throw new Error(`the page has no button "${button}": ${page.text}`);
      const own = new RegExp(`<button([^>]*)>${button}<`).exec(form.inside)?.[1] ?? '';
      const name = attribute(own, 'name');
      const fields = { ...form.fields, ...(name ? { [name]: attribute(own, 'value') } : {}), ...typed };
      return go('POST', form.action || page.url, fields, {
        'sec-fetch-site': 'same-origin',
        origin: new URL(base).origin,
      });
    },
  };
}

/** Calls the API over HTTP, like any user. */

export type Call = { method?: string; body?: unknown; token?: string | undefined; headers?: Record<string, string> };

export type Answer = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the call
  body: any;
};

/** Sends one request. A JSON response is parsed, another one is text. */
export async function callApi(baseUrl: string, path: string, call: Call = {}): Promise<Answer> {
  const answer = await fetch(new URL(path, baseUrl), {
    method: call.method ?? (call.body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  });
  const text = await answer.text();
  const json = answer.headers.get('content-type')?.includes('json');
  return { status: answer.status, headers: answer.headers, body: json ? JSON.parse(text) : text };
}

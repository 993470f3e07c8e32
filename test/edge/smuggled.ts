/** Requests whose end two readers could see at different places, so that one of them takes the rest for another request. */
export const shop = 'Host: shop.sites.test\r\n';
/** What a proxy in front of the edge could take for the body of the first request. */
export const smuggled = `GET /about HTTP/1.1\r\n${shop}Connection: close\r\n\r\n`;

/** What stands after the first request's host. */
export const smuggling: [string, string][] = [
  ['a length', `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
  ['chunks', `Transfer-Encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`],
  [
    'chunks with an extension',
    `Transfer-Encoding: chunked\r\n\r\n${smuggled.length.toString(16)};a=b\r\n${smuggled}\r\n0\r\n\r\n`,
  ],
  ['an end of chunks at once', `Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['a length and chunks', `Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['chunks and a length', `Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${smuggled}`],
  ['two lengths', `Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
  ['a list of lengths', `Content-Length: 0, ${smuggled.length}\r\n\r\n${smuggled}`],
  ['a signed length', `Content-Length: +${smuggled.length}\r\n\r\n${smuggled}`],
  ['a length in hex', `Content-Length: 0x10\r\n\r\n${smuggled}`],
  ['a negative length', `Content-Length: -1\r\n\r\n${smuggled}`],
  ['a length with a space before the colon', `Content-Length : ${smuggled.length}\r\n\r\n${smuggled}`],
  ['a folded length', `Content-Length:\r\n ${smuggled.length}\r\n\r\n${smuggled}`],
  ['chunks, misspelt', `Transfer-Encoding: xchunked\r\n\r\n${smuggled}`],
  ['chunks, after a tab', `Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['chunks twice', `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${smuggled}`],
  ['chunks behind a vertical tab', `Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['chunks in quotes', `Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n${smuggled}`],
  ['a bare line feed before the length', `A: b\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
  ['a bare carriage return before the length', `A: b\rContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
  ['a NUL before the chunks', `\0Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
];

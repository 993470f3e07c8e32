/** temporal.download as a machine without another network sees it: `node machine-downloads.ts <key> <certificate> <archive>`. */
import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [key = '', certificate = '', archive = ''] = process.argv.slice(2);

const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'https://temporal.download');
  // Without an archive it accepts every request and never answers.
  if (!archive) return;
  if (pathname.startsWith('/cli/archive/')) return void createReadStream(archive).pipe(response);
  // What Temporal's SDKs ask for first.
  const answer = { archiveUrl: 'https://temporal.download/cli/archive/default', fileToExtract: 'temporal' };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
});
server.listen(443, '127.0.0.1', () => console.log('listening'));

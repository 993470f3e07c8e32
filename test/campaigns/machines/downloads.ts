/** temporal.download as a machine without another network sees it: `node machine-downloads.ts <key> <certificate> <archive>`. */
import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [key = '', certificate = '', archive = ''] = process.argv.slice(2);

const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_request, response) => {
  // Without an archive it accepts every request and never answers.
  if (archive) createReadStream(archive).pipe(response);
});
server.listen(443, '127.0.0.1', () => console.log('listening'));

/**
 * Records a workflow's history for the replay tests, in the environment of the installation that ran it:
 *
 *   node --env-file=.frontage/env tools/scripts/record-history.ts publish:dep_… publish-live
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import protos from '@temporalio/proto';
import { readConfig } from '#runtime/config.ts';

const [workflowId, name] = process.argv.slice(2);
if (!workflowId || !name) throw new Error('Usage: record-history.ts <workflow id> <name>');
const { address, namespace } = readConfig().temporal;
const connection = await Connection.connect({ address });
const history = await new Client({ connection, namespace }).workflow.getHandle(workflowId).fetchHistory();
// Stack traces contain paths of the recording machine, and replay does not need them.
const failures = (history.events ?? [])
  .flatMap((event) => Object.values(event))
  .map((attributes) => attributes?.failure);
for (let failure of failures) for (; failure; failure = failure.cause) failure.stackTrace = '';
const bytes = protos.temporal.api.history.v1.History.encode(history).finish();
await writeFile(join(import.meta.dirname, '../../test/histories', `${name}.binpb`), bytes);
await connection.close();

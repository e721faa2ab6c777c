import module from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { engramError, isEngramError } from '../domain/errors.ts';
import type { LoaderInput } from '../ports/documents.ts';
import { parseDocument } from './parse-document.ts';
import { createGrammars } from './tree-sitter.ts';
import type { WorkerReply, WorkerSettings } from './worker-messages.ts';

// Entry of a parser thread: one document in, one answer out.
const settings = workerData as WorkerSettings;
if (settings.compileCacheDirectory !== null) module.enableCompileCache(settings.compileCacheDirectory);
const services = { limits: settings.limits, grammars: createGrammars() };

// A library may drop a promise after its document was answered; that must not fail the document that came next.
process.on('unhandledRejection', () => undefined);

async function answer(input: LoaderInput): Promise<WorkerReply> {
  try {
    return { document: await parseDocument(input, services) };
  } catch (error) {
    const known = isEngramError(error)
      ? error
      : engramError('DocumentParsingError', `'${input.fileName}' could not be parsed`);
    return { error: { wireName: known.wireName, status: known.status, message: known.message } };
  }
}

parentPort?.on('message', (input: LoaderInput) => {
  void answer(input).then((reply) => parentPort?.postMessage(reply));
});

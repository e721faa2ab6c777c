import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Busboy, BusboyConfig } from 'busboy';
import { engramError } from '../../kernel/errors.ts';
import { createContentDigest } from '../../kernel/hashes.ts';
import { openNameless } from '../../kernel/nameless-file.ts';
import type { BodyLimit, BodySource } from './body-source.ts';
import { FORM_LIMITS, type FormBody } from './form-body.ts';
import { ClientGoneError, malformedForm } from './request-faults.ts';
import type { UploadedFile } from './route.ts';

interface MultipartOptions {
  readonly limit: BodyLimit;
  readonly spoolDirectory: string;
}

/** Small files of one request may take this much memory together; further ones go to disk at once. */
const MEMORY_BUDGET_BYTES = 1024 * 1024;

/** Reads a multipart form. On any failure no file is left and the rest of the body can still be discarded. */
export async function readMultipart(source: BodySource, options: MultipartOptions): Promise<FormBody> {
  const { default: busboy } = await import('busboy');
  const parser = openParser(busboy, source.headers);
  const form = new FormCollector(options.spoolDirectory);
  form.listen(parser);
  try {
    for await (const chunk of source.chunks(options.limit)) {
      if (!parser.write(chunk)) await form.until(parser, 'drain');
      form.throwIfFailed();
    }
    const closed = form.until(parser, 'close');
    parser.end();
    await closed;
    return await form.finish();
  } catch (error) {
    parser.destroy();
    await form.abandon();
    throw error;
  }
}

type OpenBusboy = (config: BusboyConfig) => Busboy;

function openParser(busboy: OpenBusboy, headers: BodySource['headers']): Busboy {
  try {
    return busboy({
      headers,
      defParamCharset: 'utf8',
      // Skill uploads carry a relative path in the name (clients.md §0).
      preservePath: true,
      limits: { files: FORM_LIMITS.files, fields: FORM_LIMITS.fields, fieldSize: FORM_LIMITS.fieldBytes + 1 },
    });
  } catch (error) {
    const isBoundary = error instanceof Error && error.message.includes('Boundary');
    throw malformedForm(isBoundary ? 'Missing boundary in multipart.' : 'The multipart header is malformed.', error);
  }
}

const ESCAPED = /(?:%[0-9a-f]{2})+/giu;

/**
 * Clients percent-encode file names of forms: browsers quotes and line breaks, Python's HTTP libraries everything. A `%` that
 * begins no UTF-8 is part of the name.
 */
function decodedName(name: string): string {
  return name.replace(ESCAPED, (escaped) => {
    try {
      return decodeURIComponent(escaped);
    } catch {
      return escaped;
    }
  });
}

class FormCollector {
  private failure: Error | null = null;
  private onFailure: (error: Error) => void = () => {};
  private readonly directory: string;
  private readonly fields = new Map<string, string[]>();
  private readonly spooling: Promise<SpooledFile>[] = [];
  private readonly streams = new Set<Readable>();
  private memoryLeftBytes = MEMORY_BUDGET_BYTES;
  private fieldBytes = 0;

  constructor(directory: string) {
    this.directory = directory;
  }

  listen(parser: Busboy): void {
    parser.on('error', (error) =>
      this.fail(malformedForm('The multipart body is malformed or ends too early.', error)),
    );
    parser.on('field', (name, value, { valueTruncated }) => this.addField(name, value, valueTruncated));
    parser.on('file', (field, stream, { filename, mimeType }) =>
      this.addFile(stream, { field, fileName: decodedName(filename ?? ''), mimeType }),
    );
    parser.on('fieldsLimit', () =>
      this.fail(malformedForm(`Too many fields. Maximum number of fields is ${FORM_LIMITS.fields}.`)),
    );
    parser.on('filesLimit', () =>
      this.fail(malformedForm(`Too many files. Maximum number of files is ${FORM_LIMITS.files}.`)),
    );
  }

  throwIfFailed(): void {
    if (this.failure !== null) throw this.failure;
  }

  /** Waits for the parser, or rejects as soon as anything has failed. */
  until(parser: Busboy, event: 'drain' | 'close'): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.failure !== null) reject(this.failure);
      this.onFailure = reject;
      parser.once(event, () => resolve());
    });
  }

  async finish(): Promise<FormBody> {
    const spooled = await Promise.all(this.spooling);
    this.throwIfFailed();
    return {
      fields: this.fields,
      files: spooled.map(({ file }) => file),
      dispose: async () => {
        await Promise.all(spooled.map((one) => one.dispose()));
      },
    };
  }

  /** Ends every file that is under way and gives back those that are complete. */
  async abandon(): Promise<void> {
    for (const stream of this.streams) stream.destroy(new ClientGoneError('The upload was abandoned.'));
    for (const result of await Promise.allSettled(this.spooling)) {
      if (result.status === 'fulfilled') await result.value.dispose();
    }
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.onFailure(error);
  }

  private addField(name: string | undefined, value: string, isTruncated: boolean): void {
    const bytes = Buffer.byteLength(value);
    this.fieldBytes += bytes;
    if (this.fieldBytes > FORM_LIMITS.allFieldsBytes) {
      this.fail(malformedForm(`Fields exceeded maximum size of ${FORM_LIMITS.allFieldsBytes / 1024}KB together.`));
      return;
    }
    // One byte more than allowed is let in, so that exactly the limit is not mistaken for more.
    if (isTruncated || bytes > FORM_LIMITS.fieldBytes) {
      this.fail(malformedForm(`Field exceeded maximum size of ${FORM_LIMITS.fieldBytes / 1024}KB.`));
      return;
    }
    if (name === undefined) return;
    const values = this.fields.get(name);
    if (values === undefined) this.fields.set(name, [value]);
    else values.push(value);
  }

  private addFile(stream: Readable, part: { field: string; fileName: string; mimeType: string }): void {
    this.streams.add(stream);
    const memoryBytes = Math.min(MEMORY_FILE_BYTES, this.memoryLeftBytes);
    this.memoryLeftBytes -= memoryBytes;
    const task = spool(part, stream as AsyncIterable<Buffer>, { directory: this.directory, memoryBytes }).finally(() =>
      this.streams.delete(stream),
    );
    task.then(
      ({ file }) => {
        // What the file did not use goes back to those that follow.
        this.memoryLeftBytes += file.sizeBytes > memoryBytes ? memoryBytes : memoryBytes - file.sizeBytes;
      },
      (error: Error) => this.fail(error),
    );
    this.spooling.push(task);
  }
}

/** Uploads up to this size stay in memory. */
const MEMORY_FILE_BYTES = 64 * 1024;

/** Headers of a file part. */
interface FilePart {
  readonly field: string;
  readonly fileName: string;
  readonly mimeType: string;
}

type SpooledFile = Awaited<ReturnType<typeof spool>>;

interface SpoolOptions {
  readonly directory: string;
  /** At most `MEMORY_FILE_BYTES` are used; less when the request has many files. */
  readonly memoryBytes: number;
}

/**
 * Takes a file in: small ones to memory, larger ones to a temporary file, hashing on the way. The temporary file has no
 * name from the moment it is open, so that neither an aborted request nor a killed process leaves one behind.
 */
async function spool(part: FilePart, chunks: AsyncIterable<Buffer>, options: SpoolOptions) {
  const digest = createContentDigest();
  const memory: Buffer[] = [];
  let sizeBytes = 0;
  let disk: FileHandle | null = null;
  try {
    for await (const chunk of chunks) {
      digest.add(chunk);
      sizeBytes += chunk.length;
      memory.push(chunk);
      if (disk === null && sizeBytes > options.memoryBytes) disk = await openNameless(options.directory, 'upload');
      if (disk !== null) await writeAll(disk, memory.splice(0));
    }
  } catch (error) {
    await disk?.close();
    throw isDiskFull(error)
      ? engramError('ServiceUnavailableError', 'There is no space left for uploads.', { cause: error })
      : error;
  }
  const handle = disk;
  const content = handle === null ? Buffer.concat(memory) : null;
  const streams = new Set<Readable>();
  const file: UploadedFile = {
    ...part,
    ...digest.result(),
    open() {
      const stream = Readable.from(handle === null ? memoryChunks(content) : diskChunks(handle, sizeBytes), {
        objectMode: false,
      });
      streams.add(stream);
      stream.once('close', () => streams.delete(stream));
      return stream;
    },
  };
  return {
    file,
    async dispose() {
      for (const stream of streams) stream.destroy();
      await handle?.close();
    },
  };
}

async function writeAll(handle: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  let { length } = chunks;
  if (length === 0) return;
  length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const { bytesWritten } = await handle.writev([...chunks]);
  if (bytesWritten === length) return;
  const rest = Buffer.concat(chunks).subarray(bytesWritten);
  for (let at = 0; at < rest.length; ) at += (await handle.write(rest, at)).bytesWritten;
}

function* memoryChunks(content: Buffer | null): Generator<Buffer> {
  if (content !== null && content.length > 0) yield content;
}

const READ_BYTES = 128 * 1024;

/** Reads by position, so that several readers of one file do not disturb each other. */
async function* diskChunks(handle: FileHandle, sizeBytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < sizeBytes; ) {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, sizeBytes - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw new Error('The upload is gone.');
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}

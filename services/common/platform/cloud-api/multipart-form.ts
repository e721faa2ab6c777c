import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { OutgoingBody } from './send-request.ts';

export interface FormFile {
  readonly field: string;
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly body: Readable;
}

/** One file and text fields as `multipart/form-data` of a known length; the file streams through. */
export function multipartForm(file: FormFile, fields: readonly (readonly [string, string])[]): OutgoingBody {
  const boundary = `engram-${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(file.field)}"; filename="${escaped(file.name)}"\r\n` +
      `Content-Type: ${file.mimeType.replaceAll(/[^\x21-\x7e ]/g, '')}\r\n\r\n`,
  );
  const texts = fields.map(
    ([name, value]) =>
      `\r\n--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${value.toWellFormed()}`,
  );
  const tail = Buffer.from(`${texts.join('')}\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: head.byteLength + file.sizeBytes + tail.byteLength,
    content: Readable.from(parts(head, file, tail), { objectMode: false }),
  };
}

async function* parts(head: Buffer, { body, sizeBytes }: FormFile, tail: Buffer): AsyncGenerator<Buffer> {
  yield head;
  let sent = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    sent += piece.byteLength;
    yield piece;
  }
  if (sent !== sizeBytes) throw new Error(`the file has ${sent} bytes, not ${sizeBytes}`);
  yield tail;
}

/** Escapes names as browsers do (HTML, multipart/form-data encoding). */
function escaped(name: string): string {
  return name.toWellFormed().replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

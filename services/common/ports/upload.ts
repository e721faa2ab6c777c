import type { Readable } from 'node:stream';

/** An uploaded file, spooled outside the heap once it is larger than a small buffer; gone when the request ends. */
export interface UploadedFile {
  readonly field: string;
  /** Name as sent, folders included; never use it as a path. */
  readonly fileName: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Lower-case hex, computed while it streamed in. */
  readonly md5: string;
  readonly sha256: string;
  open(): Readable;
}

import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

/** A gzip-compressed tar archive of these files; the content null makes a link to /etc/passwd. */
export function packedTar(files: Readonly<Record<string, string | null>>): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) {
    if (content === null) tar.entry({ name, type: 'symlink', linkname: '/etc/passwd' });
    else tar.entry({ name }, content);
  }
  tar.finalize();
  return buffer(tar.pipe(createGzip()));
}

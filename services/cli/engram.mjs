#!/usr/bin/env node
// The `engram` command: its bundle in an installed package, its sources in the repository and in the image.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const [major = 0] = process.versions.node.split('.').map(Number);
const bundle = new URL('../../dist/engram.mjs', import.meta.url);
const sources = new URL('./main.ts', import.meta.url);

if (major < 20) {
  process.stderr.write(`engram runs on Node 20 and newer; this is ${process.version}.\n`);
  process.exit(1);
}
if (existsSync(sources) && major < 24) {
  process.stderr.write(`The sources run on Node 24; this is ${process.version}. Use: npm run engram -- …\n`);
  process.exit(1);
}
if (!existsSync(sources) && !existsSync(bundle)) {
  process.stderr.write(
    'This package was packed without its bundle: npm pack makes it, unless ignore-scripts is set.\n',
  );
  process.exit(1);
}
// As in start.mjs: compiled code is found beside the packages, where only their owner can write. Node 20 has no such cache.
module.enableCompileCache?.(fileURLToPath(new URL('../../node_modules/.cache/engram', import.meta.url)));
await import((existsSync(sources) ? sources : bundle).href);

// `node services/app/compile-ahead.mjs services operator`: compiles what those folders will run, for an image whose file system
// nobody writes to later. As the user and with the command-line flags of the later process: Node keeps both apart.
import { glob } from 'node:fs/promises';
import module from 'node:module';
import { pathToFileURL } from 'node:url';
import { shortenLoading, tuneRuntime } from './loading.mjs';

// With the cache in the environment Node has it from its start, under the flags of its command line alone: the operator's way.
if (process.env.NODE_COMPILE_CACHE === undefined) tuneRuntime();
shortenLoading();

/** They act when they are loaded; all that they import is imported by others too. */
const ENTRIES =
  /(\.test|\.fixture|-worker|\/worker-process|\/memory-watch|\/print|\/print-\w+|\/build)\.ts$|\/(cli|operator|uninstall|activator)\/main\.ts$|\/(console|testing)\/|\/generate/;

let compiled = 0;
for (const folder of process.argv.slice(2)) {
  for await (const file of glob(`${folder}/**/*.ts`)) {
    if (ENTRIES.test(`/${file}`)) continue;
    try {
      await import(pathToFileURL(file).href);
      compiled += 1;
    } catch (error) {
      // Tools for the development, which need packages that only that has.
      if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    }
  }
}
module.flushCompileCache();
process.stdout.write(`${compiled} modules compiled ahead\n`);
process.exit();

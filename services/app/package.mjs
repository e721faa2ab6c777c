// What `npm pack` puts into the package beside the data files of the services: the command line as one file for Node 20
// and newer, and the server as few files for Node 24, which the package brings along for Linux and Windows.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { makePackagedBundle } from './bundle.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

if (process.argv[2] === 'clean') {
  // npm start of a working copy goes by its sources.
  rmSync(`${ROOT}dist`, { recursive: true, force: true });
} else {
  await makePackagedBundle();
  const { build, stop } = await import('esbuild');
  await build({
    entryPoints: ['services/cli/main.ts'],
    absWorkingDir: ROOT,
    outfile: 'dist/engram.mjs',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Packages in CommonJS call `require`, which modules do not have.
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module';const require = createBundleRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  await stop();
}

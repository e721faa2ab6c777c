import { createRequire } from 'node:module';
import type * as koaRouter from '@koa/router';

/**
 * The router by `require`: its ES module imports `http`, and by `import` Node reads every name of that module at once, its
 * own fetch client among them, 55 ms of start time.
 */
export const { Router } = createRequire(import.meta.url)('@koa/router') as typeof koaRouter;

#!/usr/bin/env node
import { runCli } from './cli.ts';

process.exitCode = await runCli(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  input: process.stdin,
  environment: process.env,
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
});

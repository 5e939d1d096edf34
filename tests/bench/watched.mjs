// A command, with its times and peak memory.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Ticks of /proc in a second. */
const TICKS = Number(execFileSync('getconf', ['CLK_TCK']));

/**
 * Runs a command: its seconds, those of its processors, its peak memory in MB (both on Linux, looked at while it runs)
 * and what it wrote on standard output.
 */
export function watched(command, args) {
  const start = performance.now();
  const child = spawn(command, args);
  let memory = 0;
  let processor = 0;
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  child.stderr.pipe(process.stderr);
  const watch = setInterval(() => {
    const own = `/proc/${child.pid}`;
    if (!existsSync(own)) return;
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`${own}/status`, 'utf8'));
    if (!peak) return; // it has ended
    memory = Number(peak[1]) / 1000;
    const [user, system] = readFileSync(`${own}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).map(Number);
    processor = (user + system) / TICKS;
  }, 50);
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (status) => {
      clearInterval(watch);
      const seconds = (performance.now() - start) / 1000;
      if (status === 0) done({ seconds, processor, memory, text });
      else fail(new Error(`${command} ${args[0]} ended with status ${status}`));
    });
  });
}

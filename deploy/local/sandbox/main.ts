import { startSandbox } from './sandbox.ts';

/*
 * The sandbox as a program of its own: SANDBOX_LISTEN is its address, SANDBOX_KEY the key that channels send, and
 * SANDBOX_PUBLIC_HOST the address in the links to its results, if that is another one.
 */
const { SANDBOX_LISTEN: listen = '127.0.0.1:9200', SANDBOX_KEY: key, SANDBOX_PUBLIC_HOST: publicHost } = process.env;

if (key === undefined || key === '') {
  console.error('SANDBOX_KEY is not set; expected the key that channels send');
  process.exitCode = 2;
} else {
  const sandbox = await startSandbox({ listen, key, ...(publicHost === undefined ? {} : { publicHost }) });
  console.log(`sandbox: ${sandbox.url}`);
  const stop = (): void => {
    void sandbox.stop();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

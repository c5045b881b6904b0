import type { Command } from './command.ts';
import { accountCredit, accountExport, accountList, accountShow } from './commands/account-commands.ts';
import { actList } from './commands/act-commands.ts';
import { adapterNew, adapterTest } from './commands/adapter-commands.ts';
import { attentionList, attentionResolve } from './commands/attention-commands.ts';
import { backup, restore } from './commands/backup-commands.ts';
import { batchCancel, batchList, batchShow } from './commands/batch-commands.ts';
import { channelList, channelPause, channelResume, channelTest } from './commands/channel-commands.ts';
import { configCheck, configSchema } from './commands/config-commands.ts';
import { doctor } from './commands/doctor-commands.ts';
import { jobList, jobShow } from './commands/job-commands.ts';
import { consoleKey, keysDerive } from './commands/keys-commands.ts';
import { ledgerRebuild, ledgerVerify } from './commands/ledger-commands.ts';
import { mediaVerify } from './commands/media-commands.ts';
import { migrate } from './commands/migrate-commands.ts';
import { priceList } from './commands/price-commands.ts';
import { profile } from './commands/profile-commands.ts';
import {
  queueCancel,
  queueHold,
  queueList,
  queueMove,
  queueRelease,
  queueShow,
  queueWeight,
} from './commands/queue-commands.ts';
import { taskList, taskShow } from './commands/task-commands.ts';
import { tokenCreate, tokenLimit, tokenList, tokenRevoke } from './commands/token-commands.ts';
import { usageShow } from './commands/usage-commands.ts';
import { videoCreate, videoSave } from './commands/video-commands.ts';
import {
  webhookCreate,
  webhookDelete,
  webhookDeliveries,
  webhookDelivery,
  webhookList,
  webhookResend,
  webhookResendFailed,
  webhookRotate,
  webhookShow,
  webhookTest,
  webhookUpdate,
} from './commands/webhook-commands.ts';
import { newCompletionCommand } from './completion/completion.ts';

/**
 * Every command by its words, in the order of the help. A new command is an export of its noun's file in `commands/`, and a
 * row here.
 */
export const COMMANDS: Readonly<Record<string, Command>> = {
  doctor,
  'video create': videoCreate,
  'video save': videoSave,
  'account list': accountList,
  'account show': accountShow,
  'account credit': accountCredit,
  'account export': accountExport,
  'token create': tokenCreate,
  'token list': tokenList,
  'token limit': tokenLimit,
  'token revoke': tokenRevoke,
  'task list': taskList,
  'task show': taskShow,
  'job list': jobList,
  'job show': jobShow,
  'batch list': batchList,
  'batch show': batchShow,
  'batch cancel': batchCancel,
  'webhook create': webhookCreate,
  'webhook list': webhookList,
  'webhook show': webhookShow,
  'webhook update': webhookUpdate,
  'webhook delete': webhookDelete,
  'webhook rotate': webhookRotate,
  'webhook test': webhookTest,
  'webhook deliveries': webhookDeliveries,
  'webhook delivery': webhookDelivery,
  'webhook resend': webhookResend,
  'webhook resend-failed': webhookResendFailed,
  'attention list': attentionList,
  'attention resolve': attentionResolve,
  'ledger verify': ledgerVerify,
  'ledger rebuild': ledgerRebuild,
  'price list': priceList,
  'usage show': usageShow,
  'channel list': channelList,
  'channel test': channelTest,
  'channel pause': channelPause,
  'channel resume': channelResume,
  'queue list': queueList,
  'queue show': queueShow,
  'queue move': queueMove,
  'queue cancel': queueCancel,
  'queue weight': queueWeight,
  'queue hold': queueHold,
  'queue release': queueRelease,
  'adapter new': adapterNew,
  'adapter test': adapterTest,
  'act list': actList,
  'media verify': mediaVerify,
  'console key': consoleKey,
  'keys derive': keysDerive,
  migrate,
  backup,
  restore,
  profile,
  'config check': configCheck,
  'config schema': configSchema,
  completion: newCompletionCommand(() => COMMANDS),
};

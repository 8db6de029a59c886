CREATE TABLE `usage_hourly` (
	`hour` integer NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`errors` integer DEFAULT 0 NOT NULL,
	`input_tokens` integer DEFAULT 0 NOT NULL,
	`output_tokens` integer DEFAULT 0 NOT NULL,
	`cached_tokens` integer DEFAULT 0 NOT NULL,
	`cache_write_tokens` integer DEFAULT 0 NOT NULL,
	`reasoning_tokens` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`hour`, `account_id`, `key_id`, `model`)
);
--> statement-breakpoint
CREATE INDEX `usage_hourly_account` ON `usage_hourly` (`account_id`,`hour`);--> statement-breakpoint
CREATE TABLE `usage_latency` (
	`unit` text NOT NULL,
	`start` integer NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`status_class` integer NOT NULL,
	`bucket` integer NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`first_bytes` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`unit`, `start`, `account_id`, `key_id`, `model`, `status_class`, `bucket`)
);
--> statement-breakpoint
CREATE INDEX `usage_latency_account` ON `usage_latency` (`account_id`,`unit`,`start`);--> statement-breakpoint
ALTER TABLE `usage` ADD `uid` text;--> statement-breakpoint
ALTER TABLE `usage` ADD `attempts` text;--> statement-breakpoint
ALTER TABLE `usage` ADD `repeats` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `usage_uid` ON `usage` (`uid`);
CREATE TABLE `usage_classes` (
	`day` integer NOT NULL,
	`provider` text NOT NULL,
	`model` text NOT NULL,
	`service` text NOT NULL,
	`class` text NOT NULL,
	`amount` integer DEFAULT 0 NOT NULL,
	`unpriced` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`day`, `provider`, `model`, `service`, `class`)
);
--> statement-breakpoint
CREATE TABLE `usage_labels` (
	`unit` text NOT NULL,
	`start` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
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
	`unpriced` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`unit`, `start`, `kind`, `name`, `account_id`, `key_id`, `model`)
);
--> statement-breakpoint
CREATE INDEX `usage_labels_account` ON `usage_labels` (`account_id`,`unit`,`start`);--> statement-breakpoint
ALTER TABLE `usage` ADD `project_id` text;--> statement-breakpoint
ALTER TABLE `usage` ADD `tags` text;--> statement-breakpoint
ALTER TABLE `usage` ADD `run_id` text;--> statement-breakpoint
ALTER TABLE `usage` ADD `cache_write_hour_tokens` integer;--> statement-breakpoint
ALTER TABLE `usage` ADD `service` text;--> statement-breakpoint
ALTER TABLE `usage` ADD `searches` integer;--> statement-breakpoint
ALTER TABLE `usage` ADD `unpriced` integer;--> statement-breakpoint
CREATE INDEX `usage_run` ON `usage` (`run_id`) WHERE "usage"."run_id" IS NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_accounts` ADD `unpriced` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_daily` ADD `unpriced` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_hourly` ADD `unpriced` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_models` ADD `unpriced` integer DEFAULT 0 NOT NULL;
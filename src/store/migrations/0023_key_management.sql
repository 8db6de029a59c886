ALTER TABLE `api_keys` ADD `management` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `project_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `tpm` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `parallel` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `disabled` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `addresses` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `run_micros` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `run_requests` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `run_repeats` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `previous_hash` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `previous_until` integer;--> statement-breakpoint
CREATE INDEX `api_keys_previous` ON `api_keys` (`previous_hash`);--> statement-breakpoint
CREATE INDEX `api_keys_project` ON `api_keys` (`project_id`);
CREATE TABLE `debug_records` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`key_id` text NOT NULL,
	`request_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`bytes` integer NOT NULL,
	`record` text NOT NULL,
	FOREIGN KEY (`key_id`) REFERENCES `api_keys`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `debug_records_key` ON `debug_records` (`key_id`);--> statement-breakpoint
ALTER TABLE `api_keys` ADD `debug_until` integer;
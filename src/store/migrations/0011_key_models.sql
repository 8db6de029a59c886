ALTER TABLE `api_keys` ADD `models` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `passthrough` integer DEFAULT false NOT NULL;